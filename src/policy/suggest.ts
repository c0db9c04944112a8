// A hostile file could ask for the distance of long words to many names.
const MAX_WORD = 64
const MAX_NAMES = 2000

/** The name nearest to a misspelt word, or undefined when none is near enough to be meant. */
export function closest(word: string, names: Iterable<string>): string | undefined {
  if (word.length > MAX_WORD) return undefined
  let nearest: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  let compared = 0
  for (const name of names) {
    compared += 1
    if (compared > MAX_NAMES) return nearest
    if (Math.abs(name.length - word.length) >= least) continue
    const distance = editDistance(word.toLowerCase(), name.toLowerCase())
    if (distance >= least) continue
    nearest = name
    least = distance
  }
  return nearest
}

/** Damerau-Levenshtein (optimal string alignment): insertions, deletions, substitutions, swaps of neighbours. */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1)
      row.push(cost)
    }
    before = above
    above = row
  }
  return above[b.length] ?? 0
}
