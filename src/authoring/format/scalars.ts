import type { Json } from '../../base/json.ts'
import { isVisible, visibleJson } from '../../base/visible.ts'

/** Longest line, in characters, where a text can be broken. */
export const WIDTH = 120

/** Texts that every YAML reader, also of version 1.1, reads as texts without quotes. */
const BARE = /^[\p{L}_][\p{L}\p{N}_./()'; -]*$/u
const NOT_BARE = /^(?:y|n|yes|no|on|off|true|false|null)$|\s$/i

type Quote = '' | '"' | "'"

/** Style of a printed scalar: a text between quotes, or its source unchanged. */
interface Style {
  quote: Quote
  /** The source, when it is right as it stands. */
  kept: string | undefined
}

/**
 * Chooses the style. Plain scalars stay plain, since their form determines their type. Quotes are dropped where every
 * reader takes the text for a text; single quotes become double, unless that would need escapes.
 */
function styleOf(source: string, value: Json): Style {
  const isOneLine = !source.includes('\n')
  const first = source[0]
  if (typeof value !== 'string' || (first !== '"' && first !== "'")) {
    return { quote: '', kept: isOneLine ? source : undefined }
  }
  if (BARE.test(value) && !NOT_BARE.test(value)) return { quote: '', kept: isOneLine ? value : undefined }
  if (first === '"') return { quote: '"', kept: isOneLine ? source : undefined }
  if (/["\\]/.test(value) || !isVisible(value.replaceAll('\n', '')))
    return { quote: "'", kept: isOneLine ? source : undefined }
  return { quote: '"', kept: undefined }
}

/** A scalar, or a key, on one line. */
export function oneLineScalar(source: string, value: Json): string {
  const { quote, kept } = styleOf(source, value)
  const text = String(value)
  return kept ?? (text.includes('\n') ? visibleJson(text) : quoted(text, quote))
}

/**
 * A scalar on its lines: one line stays one line, several lines are filled up to the width.
 *
 * @param column where the first line begins
 * @param inner where the others will begin
 */
export function scalarLines(source: string, value: Json, column: number, inner: number): string[] {
  const { quote, kept } = styleOf(source, value)
  if (kept !== undefined) return [kept]
  const text = String(value)
  if (!source.includes('\n')) return [quoted(text, quote)]
  return isFoldable(text) ? folded(text, quote, column, inner) : [visibleJson(text)]
}

/** True when breaking lines at single spaces keeps the text the same. */
function isFoldable(text: string): boolean {
  const paragraphs = text.split('\n')
  const isEdgeEmpty = paragraphs[0] === '' || paragraphs.at(-1) === ''
  return !isEdgeEmpty && paragraphs.every((one) => one.trim() === one && isVisible(one))
}

/** Lines of a folded text; an empty line stands for a line break of the text. */
function folded(text: string, quote: Quote, column: number, inner: number): string[] {
  const body = quoted(text, quote)
  const lines: string[] = []
  for (const [i, paragraph] of body.split('\n').entries()) {
    if (i > 0) lines.push('')
    if (paragraph !== '') fill(lines, paragraph, lines.length === 0 ? column : inner, inner)
  }
  return lines
}

function fill(lines: string[], paragraph: string, column: number, inner: number): void {
  let line = ''
  let room = WIDTH - column
  // Without quotes, lines break only before a word that cannot be read as the beginning of something else.
  for (const part of paragraph.split(/(?<=\S) (?=[\p{L}\p{N}])/u)) {
    if (line !== '' && line.length + 1 + part.length > room) {
      lines.push(line)
      room = WIDTH - inner
      line = part
    } else line = line === '' ? part : `${line} ${part}`
  }
  lines.push(line)
}

function quoted(text: string, quote: Quote): string {
  if (quote === '"') return `"${text.replace(/["\\]/g, '\\$&')}"`
  return quote === "'" ? `'${text.replaceAll("'", "''")}'` : text
}

/** Header of a block scalar: `|` or `>`, the indentation indicator, and the chomping indicator. */
const HEADER = /^[|>][-+1-9]*/

export interface BlockScalar {
  /** The header and the lines of the text, without indentation. */
  readonly lines: readonly string[]
  /** True when empty lines after it would belong to it. */
  readonly keepsEnd: boolean
}

/** @param outer where the collection that holds it begins in the source */
export function blockScalar(source: string, outer: number): BlockScalar {
  const [header = ''] = HEADER.exec(source) ?? []
  const digit = /[1-9]/.exec(header)?.[0]
  const chomp = /[-+]/.exec(header)?.[0] ?? ''
  const end = source.indexOf('\n')
  const text = end < 0 ? '' : source.slice(end + 1)
  const body = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const firstText = body.find((line) => line.trim() !== '') ?? ''
  const spaces = digit === undefined ? firstText.search(/[^ ]|$/) : Math.max(0, outer) + Number(digit)
  const lines = body.map((line) => line.slice(spaces))
  const keepsEnd = chomp === '+'
  while (!keepsEnd && lines.at(-1) === '') lines.pop()
  // Without the indicator, the spaces of the first line would be taken for indentation.
  const indicator = lines.find((line) => line.trim() !== '')?.startsWith(' ') ? '2' : ''
  return { lines: [`${header.slice(0, 1)}${indicator}${chomp}`, ...lines], keepsEnd }
}
