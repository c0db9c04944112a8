/**
 * Reads row by row until the sum of the sizes exceeds `maxBytes`; the one that exceeds it is the last, so
 * that there is always progress. Without a budget, all.
 *
 * @param size in characters of stored JSON: near enough to bytes, and known without counting
 */
export function withinBytes<R, T>(
  rows: readonly R[],
  maxBytes: number | undefined,
  read: (row: R) => T,
  size: (value: T) => number,
): T[] {
  const found: T[] = []
  let bytes = 0
  for (const row of rows) {
    const value = read(row)
    found.push(value)
    bytes += size(value)
    if (maxBytes !== undefined && bytes > maxBytes) break
  }
  return found
}
