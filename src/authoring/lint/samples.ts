import type { Json } from '../../base/json.ts'
import { parseRfc3339 } from '../../base/time.ts'

/** Numbers that represent all others: any number compares with these constants like one of the result. */
export function numbersAround(constants: Iterable<number>): number[] {
  const sorted = [...new Set(constants)].sort((a, b) => a - b)
  const [first = 0] = sorted
  const last = sorted.at(-1) ?? 0
  const between = sorted.flatMap((low, i) => {
    const high = sorted[i + 1]
    return high === undefined ? [] : insideOf(low, high)
  })
  const outside = [first - 1, Math.floor(first) - 1, last + 1, Math.ceil(last) + 1]
  const ends = [-Number.MAX_VALUE, Number.MAX_VALUE]
  return [...new Set([...sorted, ...between, ...outside, ...ends])].filter(Number.isFinite)
}

/** A number strictly between, and an integer, where there is one. */
function insideOf(low: number, high: number): number[] {
  const sum = low + high
  const middle = Number.isFinite(sum) ? sum / 2 : low / 2 + high / 2
  return [middle, Math.floor(low) + 1].filter((value) => value > low && value < high)
}

/**
 * Times around the constants as texts, and a text that is not a time; undefined when a time beyond the last cannot be
 * written.
 */
export function timesAround(constants: Iterable<number>): string[] | undefined {
  const sorted = [...new Set(constants)].sort((a, b) => a - b)
  const around = sorted.flatMap((ms, i) => {
    const next = sorted[i + 1] ?? ms + 2
    return next > ms + 1 ? [ms, ms + 1] : [ms]
  })
  const times = [...(sorted[0] === undefined ? [] : [sorted[0] - 1]), ...around]
  const texts = times.flatMap((ms) => {
    const text = new Date(ms).toISOString()
    return parseRfc3339(text) === ms ? [text] : []
  })
  return texts.length === times.length ? [...texts, ''] : undefined
}

/**
 * Texts that equal none of the constants, with each tested beginning and ending, and with none. Undefined when no
 * distinguishing character is free.
 */
export function textsBeside(
  starts: Iterable<string>,
  ends: Iterable<string>,
  constants: readonly string[],
): string[] | undefined {
  const beginnings = ['', ...new Set(starts)]
  const endings = ['', ...new Set(ends)]
  const known = [...constants, ...beginnings, ...endings].join('')
  const filler = unusedCharacter(known)
  if (filler === undefined) return undefined
  return beginnings.flatMap((start) => endings.map((end) => start + filler + end))
}

// Private-use characters: hardly any policy has them, and one that has some does not have all.
const FIRST_PRIVATE = 0xe000
const MAX_TRIED = 100

function unusedCharacter(known: string): string | undefined {
  for (let i = 0; i < MAX_TRIED; i += 1) {
    const character = String.fromCharCode(FIRST_PRIVATE + i)
    if (!known.includes(character)) return character
  }
  return undefined
}

/** All lists of some of the items, each once: operators distinguish lists in no other way. */
export function listsOf(items: readonly Json[]): Json[][] {
  let lists: Json[][] = [[]]
  for (const item of items) lists = lists.flatMap((list) => [list, [...list, item]])
  return lists
}
