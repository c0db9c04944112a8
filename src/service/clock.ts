import type { Clock } from '../base/time.ts'
import type { Background } from './repeat.ts'

const POLL_INTERVAL_MS = 1000
/** Smallest difference between clock and uptime that counts as a jump; adjustments of NTP stay below. */
const JUMP_MS = 1000

export type ClockJumps = Readonly<Record<'forward' | 'back', number>>

/**
 * Watches the time of day against the uptime of the process. Decisions follow the clock as it is; a jump is logged and
 * counted, since it moves every deadline.
 *
 * @param onBack called after the clock was set back
 * @returns the jumps so far
 */
export function watchClock(
  clock: Clock,
  { log, tasks }: Pick<Background, 'log' | 'tasks'>,
  onBack: () => Promise<unknown>,
): () => ClockJumps {
  const jumps = { forward: 0, back: 0 }
  let aheadMs = clock() - performance.now()
  tasks.every('watch the clock', POLL_INTERVAL_MS, async () => {
    const nowMs = clock() - performance.now()
    const jumpMs = nowMs - aheadMs
    aheadMs = nowMs
    if (Math.abs(jumpMs) < JUMP_MS) return
    jumps[jumpMs > 0 ? 'forward' : 'back'] += 1
    log.warn({ seconds: Math.round(jumpMs / 1000) }, 'the clock of the machine was set, or the machine slept')
    if (jumpMs < 0) await onBack()
  })
  return () => jumps
}
