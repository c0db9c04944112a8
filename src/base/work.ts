/**
 * Work of one check. Counted in units of about ten nanoseconds, by what is compared and never by time, so that the
 * same request comes out the same on any machine, and again when it is explained.
 */

/** Units of each kind of work: what it takes at worst, measured with what policies and callers can choose. */
export const WEIGHTS = {
  comparison: { units: 400, of: 'a comparison, whatever it compares' },
  item: { units: 30, of: 'an item that `someFact`, `everyFact` or `contains` walks, or that a path with `*` gives' },
  character: { units: 1, of: 'a character that a pattern reads' },
  wideCharacter: { units: 4, of: 'a character beyond U+00FF that a pattern reads' },
  patternStep: { units: 500, of: 'a step of a pattern that the comparison takes for the first time' },
  patternPlace: { units: 2, of: 'a place in the pattern before or after such a step' },
  globCharacter: { units: 1, of: 'a character of a pattern of `session.taken`, for each 4 characters of an action' },
  schemaValue: { units: 4, of: 'a value of context or plan, for each node of its schema' },
  schemaCharacter: { units: 1, of: '8 characters of context or plan, for each node of its schema that reads texts' },
} as const

/** Units that one check may take: about 20 ms at worst. */
export const MAX_WORK = 2_000_000

/** Units after which an evaluation asks whether others have their turn: about 0.5 ms at worst. */
const SLICE = 50_000

/**
 * The turn of others to wait for, or undefined where none is due. It is a question of time, unlike what a check may do:
 * most comparisons take a tenth of their units.
 */
export type Pause = () => Promise<void> | undefined

/** The work of one evaluation. */
export interface Work {
  /** Units that are left. */
  left: number
  /** Number of things that were not done, or not to their end, for want of units. */
  refused: number
  /**
   * Preparations of the comparison that runs now, by purpose: it is made, and counts, once for all items of a
   * list. Nothing else runs before a comparison ends. Undefined where each item is a comparison of its own.
   */
  prepared: Map<object, unknown> | undefined
  readonly pause: Pause | undefined
  /** Units that were left when it was last asked whether others have their turn. */
  leftAtLook: number
}

/** @param pause without it, the evaluation runs in one piece */
export function newWork(pause?: Pause, units = MAX_WORK): Work {
  return { left: units, refused: 0, prepared: new Map(), pause, leftAtLook: units }
}

/** For what no caller waits for, as lint. */
export const UNLIMITED: Work = {
  left: Number.POSITIVE_INFINITY,
  refused: 0,
  prepared: undefined,
  pause: undefined,
  leftAtLook: 0,
}

/** Takes the units of `count` things from those left. @returns false, and takes none, when they are too few */
export function spend(work: Work, what: keyof typeof WEIGHTS, count = 1): boolean {
  const units = WEIGHTS[what].units * count
  if (units > work.left) {
    work.refused += 1
    return false
  }
  work.left -= units
  return true
}

/** Drops what an earlier comparison has prepared, so that the next one counts as if it were the first. */
export function beginComparison({ prepared }: Work): void {
  // To clear a map that is empty makes another table.
  if (prepared !== undefined && prepared.size > 0) prepared.clear()
}

/** The turn of others, when one is due. */
export function othersTurn(work: Work): Promise<void> | undefined {
  if (work.pause === undefined || work.leftAtLook - work.left < SLICE) return undefined
  work.leftAtLook = work.left
  return work.pause()
}
