export type Budget = ReturnType<typeof createBudget>

/** Most pairs of patterns, actions or comparisons that one analysis compares. */
export const PAIRS = 300_000

/** Counts the work of an analysis, so that it ends after the same amount on every machine. */
export function createBudget(limit: number) {
  let left = limit
  return {
    /** False, then and ever after, when less is left: the finding that needs it is omitted. */
    spend(cost: number): boolean {
      left -= cost
      return left >= 0
    },
    /** True when findings were omitted. */
    exhausted: (): boolean => left < 0,
  }
}
