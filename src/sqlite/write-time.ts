/** Above this, writing is slow: the event loop would stand still for longer than it may. */
const SLOW_MS = 10
/** How much one write counts, so that a checkpoint now and then is not taken for a slow disk, and a disk that hangs is. */
const WEIGHT = 0.2

/** How long writes take, as a moving average. */
export function writeTime() {
  let ms = 0
  return {
    /** Counts a write that began at this time of `performance.now()`. */
    since(beginMs: number): void {
      ms += (performance.now() - beginMs - ms) * WEIGHT
    },
    ms: () => ms,
    isSlow: () => ms > SLOW_MS,
  }
}
