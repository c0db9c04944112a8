import { isExact } from '../../base/decimal.ts'
import type { Json } from '../../base/json.ts'
import { partitionPoint } from '../../base/partition-point.ts'

/** One text of a policy set, without its BOM. */
export interface Source {
  /** Name in diagnostics: `acme/main.yaml`. */
  readonly file: string
  readonly text: string
  /** Offsets at which the lines begin. */
  readonly lineStarts: readonly number[]
  /** Offsets at which the text is a guess at the meaning of bytes. */
  readonly guessed?: readonly number[] | undefined
  /** Offset in the file of each unit of the text, when the text was repaired to be readable. */
  readonly origin?: Int32Array | undefined
  /** Offsets at which unreadable entries were left out. */
  readonly gaps?: readonly number[] | undefined
  /** True when some unreadable part was left out. */
  readonly isPartial?: boolean | undefined
}

/** A stretch of a text and its path in the document. Offsets in UTF-16 units. */
export interface Place {
  readonly source: Source
  /** `$.rules[0].when`. */
  readonly path: string
  readonly start: number
  readonly end: number
}

/** A value of a document with its position, so that every fault can point at its cause. */
export interface Node extends Place {
  /** The whole value below this node; objects have no prototype. */
  readonly value: Json
  /** Set for a mapping, in document order. */
  readonly entries?: ReadonlyMap<string, Entry> | undefined
  /** Entries of a mapping that repeat an earlier name. */
  readonly repeats?: readonly Entry[] | undefined
  /** Set for a list. */
  readonly items?: readonly Node[] | undefined
}

export interface Entry {
  readonly name: string
  readonly key: Place
  readonly value: Node
}

/** Keys that are members of every object in JavaScript; no document needs them. */
export const RESERVED_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

const PLAIN_KEY = /^[A-Za-z_$][A-Za-z0-9_$-]*$/

export function sourceOf(file: string, text: string): Source {
  const lineStarts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1)
  return { file, text, lineStarts }
}

/** Offset in the file of a unit of the text. */
export function originOf({ origin }: Source, at: number): number {
  return origin?.[at] ?? at
}

/** Offset of the end of an offset's line: its line break, or the end of the text. */
export function lineEndOf(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

/** Line and column, both from 1. */
export function positionOf(source: Source, at: number): { line: number; column: number } {
  const offset = originOf(source, at)
  const { lineStarts } = source
  const line = Math.max(
    1,
    partitionPoint(lineStarts.length, (i) => (lineStarts[i] ?? 0) <= offset),
  )
  return { line, column: offset - (lineStarts[line - 1] ?? 0) + 1 }
}

/** File and line, from 1, at which a place begins. */
export function lineOf({ source, start }: Place): { file: string; line: number } {
  return { file: source.file, line: positionOf(source, start).line }
}

/** Line, from 1, at which a place ends. */
export function lastLineOf({ source, start, end }: Place): number {
  return positionOf(source, Math.max(start, end - 1)).line
}

/** A place of a text that is not part of its document, such as a fault of syntax. */
export function placeAt(source: Source, start: number, end = start): Place {
  return { source, path: '', start, end }
}

export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`
  return PLAIN_KEY.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`
}

/** The member's value; undefined when the node is not a mapping or has no such key. */
export function memberOf(node: Node | undefined, key: string): Node | undefined {
  return node?.entries?.get(key)?.value
}

export function keyOf(node: Node | undefined, key: string): Place | undefined {
  return node?.entries?.get(key)?.key
}

export function entriesOf(node: Node | undefined): Entry[] {
  return [...(node?.entries?.values() ?? [])]
}

export function itemsOf(node: Node | undefined): readonly Node[] {
  return node?.items ?? []
}

export function textOf(node: Node | undefined): string | undefined {
  return typeof node?.value === 'string' ? node.value : undefined
}

/** The text of a scalar, for messages and comparisons with words; empty for mappings and lists. */
export function wordOf(node: Node | undefined): string {
  const value = node?.value ?? ''
  return typeof value === 'object' ? '' : String(value)
}

/** The end of a sentence about a value that must not be null: whether null is written, or nothing. */
export function nullHint({ source, start, end, value }: Node): string {
  if (value !== null) return ''
  return /^(?:null|~)$/i.test(source.text.slice(start, end)) ? ', not null' : ', and nothing is written'
}

export function numberOf(node: Node | undefined): number | undefined {
  return typeof node?.value === 'number' ? node.value : undefined
}

/** Numbers that a double holds, in the sentences of GATE1015. */
export const NOT_HELD = 'or has more digits than a program keeps (an integer beyond ±(2^53−1), a long fraction).'
/** YAML's integers of another base. */
const OTHER_BASE = /^0[xo]/

/** False for infinite numbers, and those that would lose digits. */
export function isHeld(value: number, numeral: string): boolean {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return false
  return OTHER_BASE.test(numeral) || isExact(numeral)
}

/** The place at which a missing key is reported: the first key of its mapping, or the mapping when it is empty. */
export function firstKeyOf(node: Node): Place {
  const first = node.entries?.values().next().value
  return first === undefined ? node : first.key
}
