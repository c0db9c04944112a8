/** So many letters of ten may be wrong, left out or too many. */
const WRONG_OF_TEN = 3

/**
 * What somebody most likely meant who typed the name of no known action: the known name that differs least from it, or else the
 * pattern over the names that begin as it does. Undefined where nothing is near.
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

/** How many letters have to be put in, taken out or replaced to make one text of the other (Levenshtein). */
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
