/** Above this, writing is slow: the event loop would stand still for longer than it may. */
const SLOW_MS = 10
/** How much one write counts, so that a checkpoint now and then is not taken for a slow disk. */
const WEIGHT = 0.2
/** A write that took this long shows a disk that hangs, and that will do so again. */
const HANG_MS = 200
const HANG_FOR_MS = 60_000

/** How long writes take: a moving average, and whether the disk has hung lately. */
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
