import { isLarge, type Pace, type Sized, type Timing } from '../next-group.ts'
import type { Writer } from '../writer.ts'

/** Average group size above which a group is written in the thread: the way there and back costs as much as six entries. */
const LARGE_GROUP = 6
/**
 * Submissions that do not wait for more: the thread writes them while the event loop goes on with the others. Without it
 * all callers come to wait for one group, and then for the event loop.
 */
const FULL_GROUP = 16
/** Average time of a write above which it is slow: it would block the event loop for too long. */
const SLOW_MS = 10
/** Weight of one group in both averages, so that neither an odd group nor a checkpoint of SQLite counts for much. */
const WEIGHT = 0.2
/** Time of a write that shows a hanging disk, which will probably hang again within this time. */
const HANG_MS = 200
const HANG_FOR_MS = 60_000
/** Delay of a group while writing is slow: a share of the time of a write, and its limit. */
const DELAY_SHARE = 0.25
const DELAY_LIMIT_MS = 25

/**
 * Pace of a group commit, by the groups before: where the next one is written, and for how long it waits for more.
 *
 * A group is written on the event loop while groups are small and the disk is quick, which costs least. It is written in
 * a thread while groups have many members, so that both work at once, and while the disk is slow or has hung in the last
 * minute, so that a hang blocks the service only once; so is each large submission, which takes milliseconds.
 * A stop is written on the event loop while the disk is quick: the answer of the thread would wait for its next turn.
 * A group waits only while the disk is slow and others were there: callers that were just answered would otherwise ask
 * again right after the next group had left.
 */
export function groupPace({ hasThread }: Pick<Writer, 'hasThread'>): Pace {
  const isFirstOfTurn = oncePerTurn()
  let size = 0
  let ms = 0
  let hangsUntilMs = 0
  let alone = true
  /** No group is written before what is made anew: two halves of the callers would overtake it each time. */
  let overtaken = false
  const isSlow = (): boolean => ms > SLOW_MS || performance.now() < hangsUntilMs
  const delayMs = (): number => (alone || !isSlow() ? 0 : Math.min(ms * DELAY_SHARE, DELAY_LIMIT_MS))
  return {
    /** True when the next group is written in the thread. */
    isThreadBetter(group: readonly Sized[]): boolean {
      if (isUrgentGroup(group)) return isSlow()
      overtaken = false
      size += (group.length - size) * WEIGHT
      return size > LARGE_GROUP || group.some(isLarge) || isSlow()
    },
    /**
     * True when a group begins with the submission that came last of these: a stop, of which the others of a turn share the
     * next group, or the last of a full group, which the thread writes.
     */
    isDue(last: Sized, submissions: number): boolean {
      if (last.isUrgent && isFirstOfTurn()) return true
      return hasThread && submissions >= FULL_GROUP && size > LARGE_GROUP && !isSlow() && !overtaken
    },
    /** True when the next group begins before the callers of the last one go on, which the thread has answered. */
    isNextDue: (waiting: readonly Sized[]): boolean =>
      waiting.some(({ isUrgent }) => isUrgent) || (!overtaken && delayMs() === 0),
    delayMs,
    /**
     * Counts a group that was written, or failed. A large group takes long on the fastest disk; a stop tells of it
     * alone.
     */
    written(group: readonly Sized[], { tookMs, isOvertaken }: Timing): void {
      if (!isUrgentGroup(group)) {
        overtaken = isOvertaken
        alone = group.length === 1
      }
      if (group.some(isLarge)) return
      ms += (tookMs - ms) * WEIGHT
      if (tookMs > HANG_MS) hangsUntilMs = performance.now() + HANG_FOR_MS
    },
  }
}

const isUrgentGroup = (group: readonly Sized[]): boolean => group.every(({ isUrgent }) => isUrgent)

/** Returns a function that is true for its first call in a turn of the event loop. */
function oncePerTurn(): () => boolean {
  let isFirst = true
  return () => {
    const wasFirst = isFirst
    if (wasFirst) setImmediate(() => (isFirst = true)).unref()
    isFirst = false
    return wasFirst
  }
}
