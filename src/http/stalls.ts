import { setImmediate as nextTurn } from 'node:timers/promises'

/** Interval at which a process that runs notices that it runs. */
const BEAT_MS = 100
/** Gap between two beats that counts as a stall; clients wait longer than that. */
const STALL_MS = 250
/** Time after a stall in which requests are read that came during it. */
const AFTERMATH_MS = 1000

/**
 * Notices that the event loop stood still, as it does when the process is suspended or swapped out. Data read then
 * may come from clients that have given up, which shows only when their sockets are read again.
 */
export function stallWatch(stopping: AbortSignal) {
  let beatMs = performance.now()
  let untilMs = 0
  const isLate = (): boolean => performance.now() - beatMs > STALL_MS
  const timer = setInterval(() => {
    if (isLate()) untilMs = performance.now() + AFTERMATH_MS
    beatMs = performance.now()
  }, BEAT_MS).unref()
  stopping.addEventListener('abort', () => clearInterval(timer), { once: true })
  return {
    /** True while the process stood still a moment ago. */
    isNear: (): boolean => isLate() || performance.now() < untilMs,
    /** Lets sockets be read once more. */
    async readSockets(): Promise<void> {
      // The first turn ends the one that has read the request.
      await nextTurn()
      await nextTurn()
    },
  }
}
