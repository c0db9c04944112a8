import { styleText } from 'node:util'
import type { Json } from '../base/json.ts'
import type { CommonOptions } from './context.ts'

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Text with a colour that is shown on terminals only. */
export interface Painted {
  style: Style
  text: string
}

/** A line for people, in parts when some of it is painted. */
export type Line = string | readonly (string | Painted)[]
type Cell = string | Painted

export function paint(style: Style, text: string): Painted {
  return { style, text }
}

/** Prints what the command found: one JSON document with --json, else lines for people. */
export function print(options: CommonOptions, value: unknown, lines: () => readonly Line[]): void {
  const text = options.json ? printableJson(value) : lines().map(rendered).join('\n')
  if (text !== '') process.stdout.write(`${text}\n`)
}

/** The line as it is written to standard output. */
export function rendered(line: Line): string {
  return (typeof line === 'string' ? [line] : line)
    .map((part) => (typeof part === 'string' ? visible(part) : painted(part)))
    .join('')
}

function painted({ style, text }: Painted): string {
  // Without a colour for a stream that is no terminal, or when NO_COLOR is set.
  return styleText(style, visible(text), { stream: process.stdout, validateStream: true })
}

/** Control characters and those that change the direction of text: what an agent sends must not steer a terminal. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** The text with every character that a terminal would not show as `\u{…}`. Line breaks are escaped too: a line stays one. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`)
}

/** One line of JSON. What would steer a terminal is escaped as JSON escapes it, so that the value stays the same. */
function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSEEN, (char) =>
    Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** Columns wide enough for their longest cell; the last is left as it is. */
export function table(header: readonly string[], rows: readonly (readonly Cell[])[]): Line[] {
  const head: readonly Cell[] = header.map((name) => paint('bold', name))
  const all = [head, ...rows]
  const widths = header.map((_, i) => all.reduce((width, row) => Math.max(width, widthOf(row[i])), 0))
  return all.map((row) => {
    const last = row.findLastIndex((cell) => widthOf(cell) > 0)
    return row.slice(0, last + 1).flatMap((cell, i) => (i === last ? [cell] : [cell, gap(cell, widths[i])]))
  })
}

/** JSON as people read it, a line for each member, indented. */
export function prettyJson(value: Json): string[] {
  return JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => `  ${line}`)
}

function widthOf(cell: Cell = ''): number {
  return visible(typeof cell === 'string' ? cell : cell.text).length
}

function gap(cell: Cell, width = 0): string {
  return ' '.repeat(width - widthOf(cell) + 2)
}
