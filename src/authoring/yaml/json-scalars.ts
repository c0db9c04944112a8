import type { Json } from '../../base/json.ts'
import { codePointOf } from '../../base/visible.ts'
import type { Report } from '../diagnostics/report.ts'
import { numberIn } from '../suggest/meant.ts'
import { Verbatim } from '../suggest/written.ts'
import { isHeld, NOT_HELD, type Node, placeAt, type Source } from './node.ts'

/** State of the reader. */
export interface Reading {
  readonly source: Source
  readonly report: Report
  at: number
}

/** Thrown after a fault is reported beyond which nothing is certain. */
export const STOPPED = new Error('the text cannot be read further')

const SPACE = /[ \t\r\n]*/y
const ODD_SPACE = /[\u00a0\u1680\u2000-\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff\v\f]+/y
const COMMENT = /\/\/[^\n]*|#[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const WORD = /[^\s,:[\]{}"']+/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
/** Foreign opening quotes, with the quotes that close them. */
const QUOTES: Readonly<Record<string, RegExp>> = {
  "'": /'/,
  '“': /[”“]/,
  '”': /[”“]/,
  '„': /[“”]/,
  '‘': /[’‘]/,
  '’': /[’‘]/,
}
const UNCLOSED = 'This quote is not closed on its line.'
const FOREIGN_WORDS: ReadonlySet<string> = new Set(['none', 'nil', 'undefined'])
const WORDS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ...['null', ...FOREIGN_WORDS].map((word) => [word, null] as const),
])

/** Reports a fault at one character, the next one unless another is given. @param meant text to stand in its place */
export function refuse({ source, report, at }: Reading, sentence: string, meant?: string, start = at): void {
  const suggestion = meant === undefined ? undefined : new Verbatim(meant)
  report.add('GATE1004', placeAt(source, start, start + 1), sentence, suggestion)
}

/** Reports a fault after which nothing is certain, and stops. */
export function stop(reading: Reading, sentence: string, start = reading.at): never {
  refuse(reading, sentence, undefined, start)
  throw STOPPED
}

/** Passes white space, and returns the character after it. Comments and spaces that JSON does not have are reported. */
export function skipSpace(reading: Reading): string | undefined {
  const { source, report } = reading
  for (;;) {
    reading.at = endOf(SPACE, reading)
    const start = reading.at
    const next = source.text[start]
    // Fast path: nearly always another character stands here.
    if (next === undefined || /[!-"$-.0-~]/.test(next)) return next
    reading.at = endOf(COMMENT, reading)
    if (reading.at > start) {
      const end = source.text.slice(start, reading.at).trimEnd().length + start
      const sentence = 'JSON has no comments; remove it, or write the file as YAML, which ends in .yaml.'
      report.add('GATE1004', placeAt(source, start, end), sentence)
      continue
    }
    reading.at = endOf(ODD_SPACE, reading)
    if (reading.at === start) return next
    const code = codePointOf(next)
    const sentence = `This character (${code}) looks like a space or like nothing, and is not a space of JSON; remove it.`
    report.add('GATE1004', placeAt(source, start, reading.at), sentence, new Verbatim(' '))
  }
}

/** End of the match at the current offset; the offset itself when there is none. */
function endOf(pattern: RegExp, { source, at }: Reading): number {
  pattern.lastIndex = at
  return pattern.test(source.text) ? pattern.lastIndex : at
}

/** Reads a text, number, true, false or null; or a key. */
export function readScalar(reading: Reading, path: string, isKey = false): Node {
  const { source, at: start } = reading
  const first = source.text[start] ?? ''
  if (first === '"') return readPlainText(reading, path) ?? readEscapedText(reading, path)
  const node = (value: Json): Node => ({ source, path, start, end: reading.at, value })
  const closing = QUOTES[first]
  if (closing !== undefined) {
    const line = source.text.slice(start + 1).split('\n', 1)[0] ?? ''
    const length = line.search(closing)
    if (length < 0) return stop(reading, UNCLOSED)
    reading.at = start + length + 2
    return fault(reading, node(line.slice(0, length)), 'JSON has double quotes, straight ones, around a text.')
  }
  reading.at = endOf(WORD, reading)
  if (reading.at === start) return stop(reading, 'This character cannot stand here.')
  const word = source.text.slice(start, reading.at)
  if (isKey) return fault(reading, node(word), 'A key stands in double quotes.')
  const value = wordValue(word)
  if (!WORDS.has(word) && !NUMBER.test(word)) return fault(reading, node(value), wordSentence(reading, word, path))
  if (FOREIGN_WORDS.has(word)) return fault(reading, node(value), 'JSON writes null.')
  if (typeof value !== 'number' || isHeld(value, word)) return node(value)
  reading.report.add('GATE1015', node(value), `The number is too large, ${NOT_HELD}`)
  return node(0)
}

function wordValue(word: string): Json {
  const known = WORDS.get(word.toLowerCase())
  if (known !== undefined) return known
  return NUMBER.test(word) ? Number(word) : (numberIn(word) ?? word)
}

function wordSentence({ source, at }: Reading, word: string, path: string): string {
  const value = wordValue(word)
  if (isNoNumber(word)) return `JSON has no ${word}; write a number.`
  if (path === '$' && (/^\s*:/.test(source.text.slice(at, at + 20)) || word.startsWith('-'))) {
    return 'This is not JSON; it looks like YAML, whose files end in .yaml.'
  }
  if (typeof value === 'number') return 'A number is digits with a minus, a fraction or an exponent, and nothing else.'
  return typeof value === 'string' ? 'A text stands in double quotes.' : `JSON writes ${JSON.stringify(value)}.`
}

function isNoNumber(word: string): boolean {
  return /^[-+]?(?:NaN|Infinity)$/.test(word)
}

/** Reports a scalar that JSON writes otherwise; nothing more is reported about it. */
function fault({ report }: Reading, node: Node, sentence: string): Node {
  const isYaml = sentence.includes('YAML')
  report.add('GATE1004', node, sentence, isYaml || isNoNumber(String(node.value)) ? undefined : node.value)
  if (isYaml) throw STOPPED
  return node
}

/** Fast path for texts in which nothing is escaped, or should be. */
function readPlainText(reading: Reading, path: string): Node | undefined {
  const { source, at: start } = reading
  const end = source.text.indexOf('"', start + 1)
  for (let at = start + 1; at < end; at += 1) {
    const code = source.text.charCodeAt(at)
    if (code < 0x20 || code === 0x5c || (code >= 0xd800 && code < 0xe000)) return undefined
  }
  if (end < 0) return undefined
  reading.at = end + 1
  const value = source.text.slice(start + 1, end)
  return { source, path, start, end: end + 1, value }
}

function readEscapedText(reading: Reading, path: string): Node {
  const { source, report } = reading
  const start = reading.at
  const before = report.count()
  let raw = ''
  reading.at += 1
  for (;;) {
    const char = source.text[reading.at]
    if (char === undefined || char === '\n') return stop(reading, UNCLOSED, start)
    if (char === '"') break
    const length = char === '\\' ? endOf(ESCAPE, reading) - reading.at : 1
    raw += length === 0 || char < ' ' ? escaped(reading, char) : source.text.slice(reading.at, reading.at + length)
    reading.at += length === 0 ? 1 : length
  }
  reading.at += 1
  const text: string = JSON.parse(`"${raw}"`)
  const place = { source, path, start, end: reading.at }
  if (!text.isWellFormed()) report.add('GATE1016', place, 'The text has half of a surrogate pair.')
  else if (report.count() > before) report.silence(place)
  return { ...place, value: text.isWellFormed() ? text : '' }
}

/** Reports a backslash that begins no escape, or a control character, and returns it escaped. */
function escaped(reading: Reading, char: string): string {
  const { source, report, at } = reading
  const meant = JSON.stringify(char).slice(1, -1)
  if (char !== '\\') {
    const name = char === '\t' ? 'A tab' : `The control character ${codePointOf(char)}`
    refuse(reading, `${name} is written ${meant} in a text.`, meant)
    return meant
  }
  const after = source.text[at + 1] ?? ''
  const next = after === '\n' ? '' : after
  const sentence =
    next === 'u'
      ? 'Four hexadecimal digits must follow \\u.'
      : 'There is no such escape; a backslash itself is written \\\\.'
  const place = placeAt(source, at, at + 1 + next.length)
  report.add('GATE1004', place, sentence, next === '"' ? undefined : new Verbatim(`\\\\${next}`))
  return meant
}
