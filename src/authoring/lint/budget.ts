/** Counts the work of an analysis, so that it ends after the same amount on every machine. */
export interface Budget {
  /** False, then and ever after, when less is left: the finding that needs it is omitted. */
  readonly spend: (cost: number) => boolean
  /** True when findings were omitted. */
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
