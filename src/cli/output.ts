import { styleText } from 'node:util'
import type { Json } from '../base/json.ts'
import { visible, visibleJson } from '../base/visible.ts'
import type { CommonOptions } from './context.ts'

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Text with a colour that is shown on terminals only. */
export interface Painted {
  style: Style
  text: string
}

/** A line for people, in parts when some of it is painted. */
export type Line = string | readonly (string | Painted)[]
export type Cell = string | Painted

export function paint(style: Style, text: string): Painted {
  return { style, text }
}

/** Prints what the command found: one JSON document with --json, else lines for people. */
export function print(options: CommonOptions, value: unknown, lines: () => readonly Line[]): void {
  const text = options.json ? visibleJson(value) : lines().map(rendered).join('\n')
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

/** Columns under their names. */
export function table(header: readonly string[], rows: readonly (readonly Cell[])[]): Line[] {
  return columns([header.map((name) => paint('bold', name)), ...rows])
}

/** Columns wide enough for their longest cell; the last of a line is left as it is. */
export function columns(rows: readonly (readonly Cell[])[]): Line[] {
  const count = rows.reduce((most, row) => Math.max(most, row.length), 0)
  const widths = Array.from({ length: count }, (_, i) =>
    rows.reduce((width, row) => Math.max(width, widthOf(row[i])), 0),
  )
  return rows.map((row) => {
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
  return columnsOf(visible(typeof cell === 'string' ? cell : cell.text))
}

/** Characters that stand over the one before, and those that terminals show two columns wide. */
const NO_COLUMN = /\p{M}/gu
const TWO_COLUMNS =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/gu

/** The text, as wide as `width` columns at least. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** How many columns a terminal needs for it. */
function columnsOf(text: string): number {
  return Array.from(text.replace(NO_COLUMN, '').replace(TWO_COLUMNS, '  ')).length
}

function gap(cell: Cell, width = 0): string {
  return ' '.repeat(width - widthOf(cell) + 2)
}
