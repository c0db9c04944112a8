import type { StoredEntry } from '../audit/entry.ts'

/**
 * Reads row by row until the sum of the sizes exceeds `maxBytes`, including the row that exceeds it, so that there is
 * always progress. Reads all rows without a budget.
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

/** Size of an entry for such a budget. */
export function entrySize({ headerText, sections }: StoredEntry): number {
  return sections.reduce((sum, { json }) => sum + json.length, headerText.length)
}
