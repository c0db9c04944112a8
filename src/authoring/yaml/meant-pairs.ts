import { isScalar, type ParsedNode } from 'yaml'
import { CONDITION_KEYS } from '../load/conditions.ts'
import {
  EQUALS_SIGN,
  HASH_SIGN,
  KEYS,
  type Mending,
  mending,
  misaligned,
  missingColon,
  TEXT_KEYS,
} from '../repair/repair.ts'
import { positionOf, type Source } from './node.ts'

/** A key and its value as the library read them. */
export interface Pair {
  readonly key: ParsedNode
  readonly value: ParsedNode | null
}

/** The intended meaning of valid YAML that no policy can hold. */
export interface Meant {
  readonly code: 'GATE1003' | 'GATE1013'
  readonly mending: Mending
  readonly name: string
  /** The stretch of the value, or the entries of the mapping that it is. */
  readonly value:
    | { readonly start: number; readonly end: number; readonly text: string }
    | { readonly pairs: readonly Pair[] }
  /** Number of pairs that it takes. */
  readonly count: number
}

/** Data of contexts and schemas may hold anything. */
const OF_POLICY = /^\$(?:\.(?:rules|risk)\[\d+\]|\.conditions\b)/
const OF_NUMBERS = /^\$\.(?:rules|risk|conditions|thresholds)\b/

/** The intended meaning of the pairs from an index on; undefined when it is their literal one. */
export function meantPair(pairs: readonly Pair[], index: number, path: string, source: Source): Meant | undefined {
  const pair = pairs[index]
  if (pair === undefined || !isScalar(pair.key)) return undefined
  const number = OF_NUMBERS.test(path) ? numberWithComma(pair, source) : undefined
  if (number !== undefined || !OF_POLICY.test(path) || !isAbsent(pair.value)) return number
  return spacedKey(pair, source) ?? commentedText(pairs, pair, source) ?? shallowCondition(pairs, index, source)
}

function isAbsent(value: ParsedNode | null): boolean {
  return value === null || (isScalar(value) && value.value === null && value.range[0] === value.range[1])
}

function nameOf({ key }: Pair): string {
  return isScalar(key) && typeof key.value === 'string' ? key.value : ''
}

/** Reads `{weight: 1,5}` and `{value: 1,000}`, in which YAML takes the text after the comma for a key. */
function numberWithComma(pair: Pair, source: Source): Meant | undefined {
  const { value } = pair
  if (!isScalar(value) || typeof value.value !== 'number') return undefined
  const [start] = value.range
  const [written, whole = '', ...groups] =
    /^(-?\d+),(\d+)(?:,(\d+))?(?:,(\d+))?(?=\s*[,}])/.exec(source.text.slice(start, start + 50)) ?? []
  if (written === undefined) return undefined
  const digits = groups.filter((group) => group !== undefined)
  const isGrouped = /^-?[1-9]\d{0,2}$/.test(whole) && digits.every((group) => group.length === 3)
  if (!isGrouped && digits.length > 1) return undefined
  const text = isGrouped ? whole + digits.join('') : `${whole}.${digits.join()}`
  const end = start + written.length
  const fault = mending(source, start, end, `The comma ends the value; write ${text}.`, text)
  return { code: 'GATE1013', mending: fault, name: nameOf(pair), value: { start, end, text }, count: 1 + digits.length }
}

/** Reads `{id x, effect=allow}`. */
function spacedKey({ key }: Pair, source: Source): Meant | undefined {
  if (!isScalar(key)) return undefined
  const [from, to] = key.range
  const [, name = '', between = '', text = ''] =
    /^([A-Za-z]+)( +| *=>? *)([^\s=].*)$/.exec(source.text.slice(from, to)) ?? []
  if (!KEYS.has(name)) return undefined
  const message = between.includes('=') ? EQUALS_SIGN : missingColon(name)
  const fault = mending(source, from, to, message, `${name}: ${text}`)
  return { code: 'GATE1003', mending: fault, name, value: { start: to - text.length, end: to, text }, count: 1 }
}

/** Reads `reason: #42 is full`, whose text YAML takes for a comment. */
function commentedText(pairs: readonly Pair[], pair: Pair, source: Source): Meant | undefined {
  const name = nameOf(pair)
  const asksNothing = pairs.some(({ value }) => isScalar(value) && /exists|missing/i.test(String(value.value)))
  if (!TEXT_KEYS.has(name) && (name !== 'value' || asksNothing)) return undefined
  const line = source.text.slice(pair.key.range[1]).split('\n', 1)[0] ?? ''
  const comment = name === 'value' ? /^(["']?: +)(#[^\s#,}\]]+)/ : /^(["']?: +)(#[^\s#].*?)\s*$/
  const [, before = '', text] = comment.exec(line) ?? []
  if (text === undefined) return undefined
  const start = pair.key.range[1] + before.length
  const end = start + text.length
  const fault = mending(source, start, end, HASH_SIGN, JSON.stringify(text))
  return { code: 'GATE1003', mending: fault, name, value: { start, end, text }, count: 1 }
}

/** Reads the item `- #general`, whose text YAML takes for a comment. @param from the place behind its dash */
export function commentedItem(
  item: ParsedNode | null,
  from: number,
  path: string,
  source: Source,
): { fault: Mending; range: readonly [number, number]; text: string } | undefined {
  const [, before = '', text] = /^( +)(#[^\s#].*?)\s*$/.exec(source.text.slice(from).split('\n', 1)[0] ?? '') ?? []
  if (text === undefined || !OF_POLICY.test(path) || !isAbsent(item)) return undefined
  const range = [from + before.length, from + before.length + text.length] as const
  return { fault: mending(source, ...range, HASH_SIGN, JSON.stringify(text)), range, text }
}

/** Reads `all:` at the column of the `when:` above it. */
function shallowCondition(pairs: readonly Pair[], index: number, source: Source): Meant | undefined {
  const [pair, first, ...others] = pairs.slice(index)
  if (pair === undefined || first === undefined || nameOf(pair) !== 'when' || !CONDITION_KEYS.includes(nameOf(first)))
    return undefined
  const [start] = first.key.range
  if (!source.text.slice(pair.key.range[1], start).includes('\n')) return undefined
  const end = others.findIndex((other) => !CONDITION_KEYS.includes(nameOf(other)))
  const below = [first, ...(end < 0 ? others : others.slice(0, end))]
  const column = positionOf(source, pair.key.range[0]).column + 2
  const message = `${nameOf(first)} belongs below when; indent it to column ${column}.`
  const fault = mending(source, start, first.key.range[1], message)
  return { code: 'GATE1003', mending: fault, name: 'when', value: { pairs: below }, count: 1 + below.length }
}

/** An item of actions that swallows the next one, whose dash stands deeper. */
export function swallowedItem(item: ParsedNode | null, path: string, source: Source): Mending | undefined {
  if (!/^\$\.(?:rules|risk)\[\d+\]\.actions$/.test(path) || !isScalar(item) || item.type !== 'PLAIN') return undefined
  const [start, end] = item.range
  const next = /\n *(?=- )/.exec(source.text.slice(start, end))
  if (next === null) return undefined
  const at = start + next.index + next[0].length
  const column = positionOf(source, source.text.lastIndexOf('-', start - 1)).column
  return mending(source, at, at + 1, misaligned('The dash', positionOf(source, at).column, column))
}
