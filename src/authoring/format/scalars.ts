import type { Json } from '../../base/json.ts'
import { isVisible, visibleJson } from '../../base/visible.ts'

/** Characters of a line at most, where a text can be broken. */
export const WIDTH = 120

/** Every reader of YAML, of version 1.1 too, takes these for the text that they are. */
const BARE = /^[\p{L}_][\p{L}\p{N}_./()'; -]*$/u
const NOT_BARE = /^(?:y|n|yes|no|on|off|true|false|null)$|\s$/i

type Quote = '' | '"' | "'"

/** A scalar as it is written anew: a text between quotes, or the source where that is kept. */
interface Style {
  quote: Quote
  /** The source, when it is right as it stands. */
  kept: string | undefined
}

/**
 * What is plain stays so, since its type follows from how it is written. Quotes go where every reader takes the text for
 * a text without them; single ones become double, unless that would need escapes.
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
 * A scalar on the lines that it needs: one that stood on one line stays on it, one that stood on several is filled up to
 * the width.
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

/** Whether the text is the same after lines are broken at its single spaces. */
function isFoldable(text: string): boolean {
  const paragraphs = text.split('\n')
  const isEdgeEmpty = paragraphs[0] === '' || paragraphs.at(-1) === ''
  return !isEdgeEmpty && paragraphs.every((one) => one.trim() === one && isVisible(one))
}

/** An empty line stands for a line break of the text. */
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
  // Only before a word that cannot be taken for the begin of something else, where the text has no quotes.
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

/** `|` or `>`, the indicator of indentation, and what becomes of the line breaks at the end. */
const HEADER = /^([|>])(?:([1-9])([-+]?)|([-+]?)([1-9]?))/

export interface BlockScalar {
  /** The header and the lines of the text, without indentation. */
  readonly lines: readonly string[]
  /** True when empty lines after it would belong to it. */
  readonly keepsEnd: boolean
}

/** @param outer where the collection that holds it begins in the source */
export function blockScalar(source: string, outer: number): BlockScalar {
  const [header = '', style = '', , chompAfter = '', chompBefore = ''] = HEADER.exec(source) ?? []
  const digit = /[1-9]/.exec(header)?.[0]
  const chomp = chompAfter + chompBefore
  const end = source.indexOf('\n')
  const text = end < 0 ? '' : source.slice(end + 1)
  const body = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const firstText = body.find((line) => line.trim() !== '')
  const spaces = digit === undefined ? leadingSpaces(firstText ?? '') : Math.max(0, outer) + Number(digit)
  const lines = body.map((line) => line.slice(spaces))
  const keepsEnd = chomp === '+'
  while (!keepsEnd && lines.at(-1) === '') lines.pop()
  // Without the indicator, the spaces of the first line would be taken for indentation.
  const indicator = lines.find((line) => line.trim() !== '')?.startsWith(' ') ? '2' : ''
  return { lines: [`${style}${indicator}${chomp}`, ...lines], keepsEnd }
}

function leadingSpaces(line: string): number {
  return line.length - line.replace(/^ +/, '').length
}
