/** Percentile by nearest rank; undefined without values. @param sorted ascending */
export function percentile(sorted: ArrayLike<number>, percent: number): number | undefined {
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)]
}
