import type { Connection } from './connection.ts'
import { GateError } from './errors.ts'

/** Number of calls in a row without an answer, after which further calls are refused. */
const MAX_FAILURES = 3
/** Time from the last failure to the next call that is tried, in ms. */
const PAUSE_MS = 2000

/**
 * Circuit breaker: while the service does not answer, calls are refused at once and do not each wait for the time
 * limit. After a pause one call is tried. Streams and calls that the caller aborts do not count.
 */
export function breaking({ call, open }: Connection): Connection {
  /** Calls in a row without an answer. */
  let failures = 0
  let retryMs = 0
  let isTrying = false

  const admit = (): void => {
    if (failures < MAX_FAILURES) return
    const leftMs = Math.max(0, retryMs - performance.now())
    if (leftMs === 0 && !isTrying) return
    throw new GateError('circuit_open', refusal(failures, leftMs), { retryAfterMs: leftMs })
  }
  const failed = (error: unknown): void => {
    if (!(error instanceof GateError)) return
    if (error.status !== undefined) failures = 0
    if (error.code !== 'unreachable' && error.code !== 'timeout') return
    failures += 1
    retryMs = performance.now() + PAUSE_MS
  }

  return {
    open,
    async call(name, input, options) {
      admit()
      const isTrial = failures >= MAX_FAILURES
      if (isTrial) isTrying = true
      try {
        const answer = await call(name, input, options)
        failures = 0
        return answer
      } catch (error) {
        failed(error)
        throw error
      } finally {
        if (isTrial) isTrying = false
      }
    },
  }
}

function refusal(failures: number, leftMs: number): string {
  const next =
    leftMs === 0 ? 'Another call is trying now.' : `The next call is tried in ${(leftMs / 1000).toFixed(1)} s.`
  return `The sidecar did not answer the last ${failures} calls. ${next}`
}
