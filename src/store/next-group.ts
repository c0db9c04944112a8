const MAX_GROUP = 200
/** Limit of the texts of a group's entries together, which may be sent to a thread. In UTF-16 units. */
const MAX_GROUP_CHARACTERS = 4_000_000
/** Texts of a submission beyond which its write takes milliseconds, for which others should not wait. */
const LARGE_CHARACTERS = 64 * 1024

/** A submission that waits, as far as groups are made by it. */
export interface Sized {
  /** Length of the texts of its entries. */
  characters: number
  /** True for a change of stops, which waits behind no other. */
  isUrgent: boolean
}

/** How a group was written. */
export interface Timing {
  /** Time of its transaction. */
  tookMs: number
  /** True when others were allowed before a submission that counts them, which is made anew, in this turn if it is short. */
  isOvertaken: boolean
}

/** Where a group is written, and when. */
export interface Pace {
  /** True when the next group is written in the thread. */
  isThreadBetter(group: readonly Sized[]): boolean
  /** True when a group begins with the submission that came last of these. */
  isDue(last: Sized, submissions: number): boolean
  /** True when the next group begins before the callers of the last one go on. */
  isNextDue(waiting: readonly Sized[]): boolean
  /** Delay of the next group. */
  delayMs(): number
  /** Counts a group that was written, or failed. */
  written(group: readonly Sized[], timing: Timing): void
}

export function isLarge({ characters }: Pick<Sized, 'characters'>): boolean {
  return characters > LARGE_CHARACTERS
}

/**
 * Takes the urgent submissions, unless the group before went ahead of the others; else those that are not large, as many
 * as the limits admit; or one that is large, when there are none, or the group before went ahead of it.
 */
export function groupsInTurn(): <T extends Sized>(waiting: readonly T[]) => T[] {
  let isLargeDue = false
  let areOthersDue = false
  return (waiting) => {
    const [first] = waiting
    const urgent = smallOnes(waiting.filter(({ isUrgent }) => isUrgent))
    areOthersDue = urgent.length > 0 && !areOthersDue && urgent.length < waiting.length
    if (urgent.length > 0 && (areOthersDue || urgent.length === waiting.length)) return urgent
    const small = smallOnes(waiting)
    const isLargeNext = first !== undefined && isLarge(first)
    const takesLarge = isLargeNext && (isLargeDue || small.length === 0)
    isLargeDue = isLargeNext && !takesLarge
    return takesLarge ? [first] : small
  }
}

function smallOnes<T extends Sized>(waiting: readonly T[]): T[] {
  const small: T[] = []
  let characters = 0
  for (const item of waiting) {
    if (isLarge(item)) continue
    characters += item.characters
    if (small.length === MAX_GROUP || characters > MAX_GROUP_CHARACTERS) break
    small.push(item)
  }
  return small
}

/** The waiting submissions with the group before the others. */
export function inFront<T>(group: readonly T[], waiting: T[]): T[] {
  if (group.every((item, i) => item === waiting[i])) return waiting
  const chosen = new Set(group)
  return [...group, ...waiting.filter((item) => !chosen.has(item))]
}
