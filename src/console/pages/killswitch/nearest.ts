/** Wrong, missing or extra letters allowed in ten. */
const WRONG_OF_TEN = 3

/**
 * The likely intended name for an unknown action: the known name with the fewest differences,
 * else the pattern over the names with the same beginning. Undefined if nothing is near.
 */
export function nearestOf(typed: string, known: readonly string[]): string | undefined {
  const wanted = typed.trim().toLowerCase()
  if (wanted === '') return undefined
  let nearest: { name: string; distance: number } | undefined
  for (const name of known) {
    const most = Math.floor((Math.max(name.length, wanted.length) * WRONG_OF_TEN) / 10)
    if (Math.abs(name.length - wanted.length) > most) continue
    const distance = distanceOf(wanted, name.toLowerCase())
    if (distance <= most && distance < (nearest?.distance ?? Number.POSITIVE_INFINITY)) nearest = { name, distance }
  }
  return nearest?.name ?? known.find((name) => /^[^*]+\.\*+$/.test(name) && wanted.startsWith(beginningOf(name)))
}

/** `payment.` of `payment.*` */
function beginningOf(pattern: string): string {
  return pattern.replace(/\*+$/, '').toLowerCase()
}

/** The edit distance between two texts: insertions, deletions and replacements of letters (Levenshtein). */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
