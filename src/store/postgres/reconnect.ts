/** Limits of the pause after a failed attempt, which doubles with each. */
const FIRST_MS = 250
const LAST_MS = 5000

/** The server did not answer lately, and is not asked again yet. */
export class NotReached extends Error {
  override readonly name = 'NotReached'
}

/**
 * Makes connections, none for a while after an attempt that failed. The pause is random, between half of its length and
 * all of it: sidecars that lost the same server do not come back at the same moment.
 */
export function reconnecting(nowMs = () => performance.now(), random = Math.random) {
  let failures = 0
  let notBeforeMs = Number.NEGATIVE_INFINITY
  return async <T>(connect: () => Promise<T>): Promise<T> => {
    if (nowMs() < notBeforeMs) throw new NotReached('the server did not answer, and is asked again in some seconds')
    try {
      const connection = await connect()
      failures = 0
      return connection
    } catch (error) {
      const pauseMs = Math.min(LAST_MS, FIRST_MS * 2 ** failures) * (0.5 + random() / 2)
      failures += 1
      notBeforeMs = nowMs() + pauseMs
      throw error
    }
  }
}
