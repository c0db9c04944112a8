/** Counts the work of an analysis, so that it ends after the same amount on every machine. */
export interface Budget {
  /** False, and from then on always, when there is not as much left: what needs it is left unsaid. */
  readonly spend: (cost: number) => boolean
  /** True when something was left unsaid. */
  readonly exhausted: () => boolean
}

export function createBudget(limit: number): Budget {
  let left = limit
  return {
    spend(cost) {
      left -= cost
      return left >= 0
    },
    exhausted: () => left < 0,
  }
}
