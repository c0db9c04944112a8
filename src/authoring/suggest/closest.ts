import { inAscii } from './look-alikes.ts'

// A hostile file could compare long words with many names; see also Report.search.
const MAX_WORD = 64
const MAX_NAMES = 2000

/** Signs around copied words that no name has: typographic quotes, odd spaces, marks of no width. */
const DECORATION = /[\s\u00a0\u00ad\u200b-\u200f\u2018-\u201f\u2060\u00ab\u00bb\ufeff"'`´]/g

/** The word without copied decoration, in the letters that it seems to be written with. */
export function plainWord(word: string): string {
  return inAscii(word.replace(DECORATION, ''))
}

/** A key that is the same for words that differ only in case, or in how their parts are joined (`expires_in`, `expiresIn`). */
export function folded(word: string): string {
  return plainWord(word).replace(/[_-]/g, '').toLowerCase()
}

/** Words of other languages for ours, by the folded word. */
export type Synonyms = ReadonlyMap<string, string>

export function synonyms(table: Readonly<Record<string, string>>): Synonyms {
  return new Map(
    Object.entries(table).flatMap(([meant, words]) => words.split(' ').map((word): [string, string] => [word, meant])),
  )
}

/** The name that was meant: the same apart from spelling, else one with this synonym, else the nearest. */
export function closest(word: string, names: Iterable<string>, others: Synonyms = new Map()): string | undefined {
  if (word.length > MAX_WORD) return undefined
  const known = firstOf(names)
  const same = folded(word)
  const synonym = others.get(same)
  return (
    known.find((name) => name === plainWord(word)) ??
    known.find((name) => folded(name) === same) ??
    known.find((name) => name === synonym) ??
    nearest(plainWord(word), known) ??
    // Text after a mark was copied along with the word, such as a comment.
    known.find((name) => name === /^([\w.$-]+)[^\w.$-]/.exec(plainWord(word))?.[1])
  )
}

/** The first names, up to the number that is searched. */
export function firstOf(names: Iterable<string>): string[] {
  const first: string[] = []
  for (const name of names) {
    if (first.push(name) >= MAX_NAMES) break
  }
  return first
}

const MAX_SHOWN = 8

/** The names to choose from, as the end of a sentence. */
export function choices(names: Iterable<string>): string {
  const known = firstOf(names)
  if (known.length === 0) return 'none is declared'
  const shown = known.slice(0, MAX_SHOWN).map((name) => JSON.stringify(name.slice(0, MAX_WORD)))
  return `there are ${shown.join(', ')}${known.length > MAX_SHOWN ? ' and others' : ''}`
}

/** The name nearest to a misspelt word, or undefined when none is near enough to be meant. */
function nearest(word: string, names: readonly string[]): string | undefined {
  let found: string | undefined
  let least = Math.max(1, Math.floor((word.length + 1) / 3)) + 1
  const lower = word.toLowerCase()
  for (const name of names) {
    if (Math.abs(name.length - word.length) >= least) continue
    const distance = editDistance(lower, name.toLowerCase(), least)
    // A word of one or two letters is near to every other of its length.
    if (distance >= least || distance >= Math.max(word.length, name.length)) continue
    found = name
    least = distance
  }
  return found
}

/**
 * Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, substitutions, swaps of neighbours.
 *
 * @param least From here on the distance need not be known: it is then said to be infinite.
 */
export function editDistance(a: string, b: string, least = Number.POSITIVE_INFINITY): number {
  const same = sharedStart(a, b)
  return distanceOf(a.slice(same), b.slice(same), least)
}

function sharedStart(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}

function distanceOf(a: string, b: string, least: number): number {
  let [before, above, row]: [number[], number[], number[]] = [[], [0], []]
  for (let j = 1; j <= b.length; j += 1) above[j] = j
  for (let i = 1; i <= a.length; i += 1) {
    row[0] = i
    let nearest = i
    for (let j = 1; j <= b.length; j += 1) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      let cost = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + change)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) cost = Math.min(cost, (before[j - 2] ?? 0) + 1)
      row[j] = cost
      if (cost < nearest) nearest = cost
    }
    // Later rows are not nearer: a swap adds one to the row before last, which is at most one nearer than the last.
    if (nearest >= least) return Number.POSITIVE_INFINITY
    ;[before, above, row] = [above, row, before]
  }
  return above[b.length] ?? 0
}
