/** Average above which writing is slow: it would block the event loop for too long. */
const SLOW_MS = 10
/** Weight of one write, so that an occasional checkpoint does not look like a slow disk. */
const WEIGHT = 0.2
/** Duration of a write that shows a hanging disk, which will probably hang again. */
const HANG_MS = 200
const HANG_FOR_MS = 60_000

/** Tracks the duration of writes: a moving average, and whether the disk hung lately. */
export function writeTime() {
  let ms = 0
  let hangsUntilMs = 0
  return {
    /** Counts a write that began at this time of `performance.now()`. */
    since(beginMs: number): void {
      const endMs = performance.now()
      ms += (endMs - beginMs - ms) * WEIGHT
      if (endMs - beginMs > HANG_MS) hangsUntilMs = endMs + HANG_FOR_MS
    },
    ms: () => ms,
    isSlow: () => ms > SLOW_MS || performance.now() < hangsUntilMs,
  }
}
