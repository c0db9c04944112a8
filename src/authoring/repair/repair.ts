import { CONDITION_KEYS } from '../load/conditions.ts'
import { PolicyDocument } from '../shapes/document.ts'
import { Verbatim } from '../suggest/written.ts'
import { PolicyTestFile } from '../test-files/shapes.ts'
import { originOf, type Place, placeAt, type Source } from '../yaml/node.ts'

/** A fault of syntax with a plain repair, so that the text around it can be read too. */
export interface Mending {
  readonly place: Place
  readonly message: string
  readonly suggestion?: Verbatim | undefined
}

export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
  /**
   * Set where text is missing: `value` when the text stands for an unknown value, `entry` for whole entries, `rest`
   * for text that perhaps should follow.
   */
  readonly leftOut?: 'value' | 'entry' | 'rest'
}

export interface Repair {
  readonly edits: readonly Edit[]
  readonly mendings: readonly Mending[]
}

/** Describes a fault of a stretch of the text. @param written the text to write in its place */
export function mending(source: Source, start: number, end: number, message: string, written?: string): Mending {
  const suggestion = written === undefined ? undefined : new Verbatim(written)
  return { place: placeAt(source, start, end), message, suggestion }
}

/** Replaces a stretch of the text by the text that should stand there. */
export function replacement(source: Source, start: number, end: number, text: string, message: string): Repair {
  return { edits: [{ start, end, text }], mendings: [mending(source, start, end, message, text)] }
}

/** Combines repairs, in the order of the text. */
export function together(repairs: readonly Repair[]): Repair {
  const sorted = [...repairs].sort((a, b) => (a.edits[0]?.start ?? 0) - (b.edits[0]?.start ?? 0))
  return { edits: sorted.flatMap(({ edits }) => edits), mendings: sorted.flatMap(({ mendings }) => mendings) }
}

/** Applies changes, which are in order and do not overlap. */
export function edited(source: Source, edits: readonly Edit[]): Source {
  const parts: string[] = []
  const origins: number[] = []
  const guessed: number[] = []
  const gaps: number[] = []
  const wasGuessed = new Set(source.guessed)
  const wasGap = new Set(source.gaps)
  let at = 0
  const copy = (to: number): void => {
    parts.push(source.text.slice(at, to))
    for (; at < to; at += 1) {
      if (wasGuessed.has(at)) guessed.push(origins.length)
      if (wasGap.has(at)) gaps.push(origins.length)
      origins.push(originOf(source, at))
    }
  }
  for (const { start, end, text, leftOut } of edits) {
    copy(start)
    parts.push(text)
    if (leftOut === 'entry') gaps.push(origins.length)
    for (let i = 0; i < text.length; i += 1) {
      if (leftOut === 'value') guessed.push(origins.length)
      origins.push(originOf(source, start))
    }
    at = end
  }
  copy(source.text.length)
  origins.push(originOf(source, source.text.length))
  const isPartial = source.isPartial === true || edits.some(({ leftOut }) => leftOut !== undefined)
  return { ...source, text: parts.join(''), origin: Int32Array.from(origins), guessed, gaps, isPartial }
}

export const KEYS: ReadonlySet<string> = new Set([
  ...keysOf(PolicyDocument),
  ...keysOf(PolicyTestFile),
  ...CONDITION_KEYS,
])

function keysOf(shape: unknown): string[] {
  if (typeof shape !== 'object' || shape === null) return []
  const properties: unknown = Reflect.get(shape, 'properties')
  const own = typeof properties === 'object' && properties !== null ? Object.entries(properties) : []
  const others = [Reflect.get(shape, 'items'), Reflect.get(shape, 'additionalProperties')]
  return [...own.flatMap(([key, below]) => [key, ...keysOf(below)]), ...others.flatMap(keysOf)]
}

/** Longest line that is repaired: nobody writes a longer one by hand, and the cost of a repair grows with its square. */
export const MAX_LINE = 4000

/** Message about a key or dash that is not aligned with those above it; columns from 1. */
export function misaligned(what: string, column: number, right: number): string {
  return `${what} stands at column ${column}; it must begin at column ${right}, as those above it do.`
}

export const EQUALS_SIGN = 'A colon and a space stand between key and value, not =.'

export const HASH_SIGN = 'A # after a space begins a comment; a text that begins with it stands in quotes.'

export function missingColon(key: string): string {
  return `A colon is missing after ${key}.`
}

/** Keys of the document itself. */
export const TOP_KEYS: ReadonlySet<string> = new Set(Object.keys(PolicyDocument.properties))

/** Keys whose value is a sentence. */
export const TEXT_KEYS: ReadonlySet<string> = new Set(['reason', 'description', 'title'])
