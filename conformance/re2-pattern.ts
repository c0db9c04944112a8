import { LIMITS } from '../src/authoring/load/limits.ts'
import { compilePattern } from '../src/base/pattern.ts'
import { type Edge, type Flags, NotPython, NotRe2, type Pattern, parsePython, type SetItem } from './python-pattern.ts'

/**
 * What a search for a Python pattern becomes: RE2 patterns of which one must be found; an error that Python raises
 * whenever the pattern is used; or the reason why RE2 cannot say it.
 */
export type Translated =
  | { readonly kind: 'patterns'; readonly patterns: readonly string[]; readonly differs: RegExp | undefined }
  | { readonly kind: 'error'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string }

/** Where a part stands: whether anything that takes characters stands before or behind it, and what lies next to it. */
interface Place {
  readonly caseless: boolean
  readonly isFirst: boolean
  readonly isLast: boolean
  readonly before: Pattern | undefined
  readonly behind: Pattern | undefined
}

// The four forms of i are one to Python without case; to RE2, i and I are one, and these two are letters of their own.
const I = 0x69
const FORMS_OF_I = [I, 0x130, 0x131]
const SPACE = '\\s\\v\\x1c-\\x1f\\x{85}\\pZ'
const NO_SPACE =
  '\\x00-\\x08\\x0e-\\x1b!-\\x{84}\\x{86}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{10ffff}'
const WORD = '\\pL\\pN_'
const CLASSES: Readonly<Record<string, string>> = { d: '\\p{Nd}', D: '\\P{Nd}', w: WORD, s: SPACE, S: NO_SPACE }
const ASCII_CLASSES: Readonly<Record<string, string>> = {
  ...{ d: '0-9', D: '\\x00-/:-\\x{10ffff}', w: '0-9A-Za-z_', W: '\\x00-/:-@[-^`{-\\x{10ffff}' },
  ...{ s: '\\t-\\r ', S: '\\x00-\\x08\\x0e-\\x1f!-\\x{10ffff}' },
}
/** What RE2's word boundary, which knows ASCII only, sees otherwise than Python's. */
const WORDS_BEYOND_ASCII = /[^\P{L}A-Za-z]|[^\P{N}0-9]/u
// Before Python 3.14, \B is not found in the empty text.
const EMPTY_OR_WORDS_BEYOND_ASCII = /^$|[^\P{L}A-Za-z]|[^\P{N}0-9]/u

export function toRe2(pattern: string): Translated {
  try {
    const parsed = parsePython(pattern)
    const patterns = shortEnough(parsed)
    return { kind: 'patterns', patterns, differs: doubtOf(patterns) }
  } catch (error) {
    if (error instanceof NotPython) return { kind: 'error', reason: error.message }
    if (error instanceof NotRe2) return { kind: 'refused', reason: error.message }
    throw error
  }
}

/** The texts about which the two engines may differ. */
function doubtOf(patterns: readonly string[]): RegExp | undefined {
  const kept = (letter: string): boolean =>
    patterns.some((pattern) => new RegExp(`(?<!\\\\)(?:\\\\\\\\)*\\\\${letter}`).test(pattern))
  if (kept('B')) return EMPTY_OR_WORDS_BEYOND_ASCII
  return kept('b') ? WORDS_BEYOND_ASCII : undefined
}

/** The pattern, or its alternatives where the whole is longer than a pattern may be. */
function shortEnough(pattern: Pattern): string[] {
  const written = whole(pattern)
  if (written.length <= LIMITS.pattern) {
    const compiled = compilePattern(written)
    if ('fault' in compiled) throw new NotRe2(`RE2 does not compile it: ${compiled.fault}`)
    return [written]
  }
  const halves = halved(pattern)
  if (halves === undefined) throw new NotRe2(`the pattern is longer than ${LIMITS.pattern} characters`)
  return halves.flatMap(shortEnough)
}

/** Two patterns, of which one is found where this is: each has half of the alternatives of a group. */
function halved(pattern: Pattern): [Pattern, Pattern] | undefined {
  if (pattern.kind === 'any') {
    const middle = Math.ceil(pattern.of.length / 2)
    if (pattern.of.length < 2) return halved(pattern.of[0] ?? { kind: 'all', of: [] })
    return [
      { kind: 'any', of: pattern.of.slice(0, middle) },
      { kind: 'any', of: pattern.of.slice(middle) },
    ]
  }
  if (pattern.kind === 'group') {
    const halves = halved(pattern.of)
    return (
      halves && [
        { ...pattern, of: halves[0] },
        { ...pattern, of: halves[1] },
      ]
    )
  }
  if (pattern.kind !== 'all') return undefined
  for (const [i, part] of pattern.of.entries()) {
    const halves = halved(part)
    if (halves !== undefined) {
      return [
        { kind: 'all', of: pattern.of.with(i, halves[0]) },
        { kind: 'all', of: pattern.of.with(i, halves[1]) },
      ]
    }
  }
  return undefined
}

function whole(pattern: Pattern): string {
  if (pattern.kind !== 'group') throw new TypeError('a whole pattern is a group')
  const { caseless } = pattern
  const place = { caseless, isFirst: true, isLast: true, before: undefined, behind: undefined }
  return (caseless ? '(?i)' : '') + write(pattern.of, place)
}

function write(pattern: Pattern, place: Place): string {
  switch (pattern.kind) {
    case 'any':
      return pattern.of.map((branch) => write(branch, place)).join('|')
    case 'all':
      return pattern.of.map((part, i) => write(part, placeAt(pattern.of, i, place))).join('')
    case 'group': {
      const { caseless } = pattern
      const opening = caseless === place.caseless ? '(' : caseless ? '(?i:' : '(?-i:'
      return `${opening}${write(pattern.of, { ...place, caseless })})`
    }
    case 'repeat': {
      const inner = { ...place, isFirst: false, isLast: false, before: undefined, behind: undefined }
      return write(pattern.of, inner) + quantifier(pattern.min, pattern.max)
    }
    case 'set':
      return writeSet(pattern)
    case 'dot':
      return pattern.flags.dotAll ? '(?s:.)' : '.'
    case 'edge':
      return writeEdge(pattern.edge, pattern.flags, place)
  }
}

function placeAt(parts: readonly Pattern[], i: number, place: Place): Place {
  return {
    caseless: place.caseless,
    isFirst: place.isFirst && i === 0,
    isLast: place.isLast && i === parts.length - 1,
    before: parts[i - 1] ?? place.before,
    behind: parts[i + 1] ?? place.behind,
  }
}

function quantifier(min: number, max: number | undefined): string {
  if (max === undefined) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`
  if (min === 0 && max === 1) return '?'
  return min === max ? `{${min}}` : `{${min},${max}}`
}

function writeEdge(edge: Edge, flags: Flags, place: Place): string {
  switch (edge) {
    case 'A':
      return '\\A'
    case 'Z':
      return '\\z'
    case '^':
      return flags.multiline ? '(?m:^)' : '^'
    case '$':
      if (flags.multiline) return '(?m:$)'
      // Python's matches before a last line feed too. That is taken along, so that nothing may follow.
      if (!place.isLast)
        throw new NotRe2('$ before the end of a pattern also matches before a last line feed in Python')
      return '\\n?\\z'
    case 'b':
      return writeBoundary(flags, place)
    case 'B':
      return '\\B'
  }
}

/** Only whether the pattern is found matters, not where: at its ends, the character beyond a word can be taken along. */
function writeBoundary({ ascii }: Flags, { isFirst, isLast, before, behind }: Place): string {
  if (!ascii && isFirst && wordAt('first', behind) === 'yes') return `(?:^|[^${WORD}])`
  if (!ascii && isLast && wordAt('last', before) === 'yes') return `(?:[^${WORD}]|\\z)`
  return '\\b'
}

/** Whether the first, or last, character that the pattern takes is one of a word: surely, if it takes any, or not surely. */
function wordAt(side: 'first' | 'last', pattern: Pattern | undefined): 'yes' | 'if any' | 'no' {
  switch (pattern?.kind) {
    case 'any': {
      const branches = pattern.of.map((branch) => wordAt(side, branch))
      if (branches.includes('no')) return 'no'
      return branches.includes('if any') ? 'if any' : 'yes'
    }
    case 'all': {
      const parts = side === 'first' ? pattern.of : pattern.of.toReversed()
      return parts.map((part) => wordAt(side, part)).find((answer) => answer !== 'if any') ?? 'if any'
    }
    case 'group':
      return wordAt(side, pattern.of)
    case 'repeat': {
      const answer = wordAt(side, pattern.of)
      return answer === 'yes' && pattern.min === 0 ? 'if any' : answer
    }
    case 'set':
      return !pattern.negated && pattern.items.every(isWord) ? 'yes' : 'no'
    default:
      return 'no'
  }
}

function isWord(item: SetItem): boolean {
  if ('class' in item) return item.class === 'd' || item.class === 'w'
  const [from, to] = [String.fromCodePoint(item.from), String.fromCodePoint(item.to)]
  return ['09', 'AZ', 'az'].some(([low = '', high = '']) => low <= from && to <= high) || (from === '_' && to === '_')
}

function writeSet({ negated, items, flags }: Extract<Pattern, { kind: 'set' }>): string {
  const { ascii, caseless } = flags
  if (ascii && caseless) throw new NotRe2('RE2 cannot compare without case in ASCII alone')
  const all = caseless && items.some(hasI) ? [...items, ...FORMS_OF_I.flatMap((code) => missingIn(items, code))] : items
  const [only] = all
  if (all.length === 1 && only !== undefined && 'from' in only && only.from === only.to && !negated) {
    return character(only.from)
  }
  const classes = ascii ? ASCII_CLASSES : CLASSES
  const known = all.filter((item) => !('class' in item) || classes[item.class] !== undefined)
  const inside = known.map((item) => ('class' in item ? classes[item.class] : range(item))).join('')
  if (known.length === all.length) return single(inside, negated)
  // What is no part of a word is the one class that has no name inside brackets.
  if (!negated) return known.length === 0 ? `[^${WORD}]` : `(?:[^${WORD}]|[${inside}])`
  if (inside === '') return `[${WORD}]`
  if (inside === '_') return '[\\pL\\pN]'
  if (/^(?:\\p\{Nd\}_|_\\p\{Nd\})$/.test(inside)) return '[\\pL\\p{Nl}\\p{No}]'
  throw new NotRe2('RE2 cannot take single characters out of those of a word')
}

/** A class alone needs no brackets. */
function single(inside: string, negated: boolean): string {
  return !negated && /^\\[pP]\{Nd\}$/.test(inside) ? inside : `[${negated ? '^' : ''}${inside}]`
}

function hasI(item: SetItem): boolean {
  return [...FORMS_OF_I, I - 32].some((code) => holds(item, code))
}

function holds(item: SetItem, code: number): boolean {
  return 'from' in item && item.from <= code && code <= item.to
}

function missingIn(items: readonly SetItem[], code: number): SetItem[] {
  const isThere = items.some((item) => holds(item, code) || (code === I && holds(item, I - 32)))
  return isThere ? [] : [{ from: code, to: code }]
}

function range({ from, to }: { from: number; to: number }): string {
  return from === to ? inSet(from) : `${inSet(from)}-${inSet(to)}`
}

function inSet(code: number): string {
  return /[\\\][^-]/.test(String.fromCodePoint(code)) ? `\\${String.fromCodePoint(code)}` : plain(code)
}

function character(code: number): string {
  return /[\\.+*?()|[\]{}^$]/.test(String.fromCodePoint(code)) ? `\\${String.fromCodePoint(code)}` : plain(code)
}

function plain(code: number): string {
  if (code >= 0xd800 && code <= 0xdfff) throw new NotRe2('half of a surrogate pair is no text')
  if (code === 9) return '\\t'
  if (code === 10) return '\\n'
  const text = String.fromCodePoint(code)
  return /[\p{C}\p{Z}]/u.test(text) && text !== ' ' ? `\\x{${code.toString(16)}}` : text
}

/** A text as a pattern that finds it. */
export function literalPattern(text: string): string {
  return Array.from(text, (one) => character(one.codePointAt(0) ?? 0)).join('')
}

/**
 * A pattern for the texts that come after another in the order of their code points, or that are also equal to it: the
 * first character that differs is a higher one, or there is none and the text goes on.
 */
export function laterPattern(text: string, orEqual: boolean): string {
  const after = Array.from(text).reduceRight(
    (rest, one) => {
      const code = one.codePointAt(0) ?? 0
      const higher = code < MAX_CODE ? `[\\x{${(code + 1).toString(16)}}-\\x{10ffff}]|` : ''
      return `(?:${higher}${character(code)}${rest})`
    },
    orEqual ? '' : '(?s:.)',
  )
  return `^${after}`
}

const MAX_CODE = 0x10ffff
