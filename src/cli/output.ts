import { writeFileSync } from 'node:fs'
import { styleText } from 'node:util'
import { columnsOf } from '../base/columns.ts'
import type { Json } from '../base/json.ts'
import { visible, visibleJson } from '../base/visible.ts'
import { visibleParts } from '../console/ui/visible.ts'
import type { CommonOptions } from './context.ts'
import type { Output } from './io.ts'

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Text with a colour that only terminals show. */
export interface Painted {
  style: Style
  text: string
}

/** A line for people, in parts when some of it is coloured. */
export type Line = string | readonly (string | Painted)[]
export type Cell = string | Painted

export function paint(style: Style, text: string): Painted {
  return { style, text }
}

/** Prints the result of a command: one JSON document with --json, else lines for people. */
export function print(
  { io, json }: Pick<CommonOptions, 'io' | 'json'>,
  value: unknown,
  lines: () => readonly Line[],
): void {
  const text = json
    ? visibleJson(value)
    : lines()
        .map((line) => rendered(line, io.stdout))
        .join('\n')
  if (text !== '') io.stdout.write(`${text}\n`)
}

/** Writes JSON to the file of --out, and else to stdout. @returns the file */
export function writeOut(
  { io, out }: Pick<CommonOptions, 'io'> & { out?: string },
  value: unknown,
): string | undefined {
  const text = `${visibleJson(value)}\n`
  if (out === undefined) io.stdout.write(text)
  else writeFileSync(out, text)
  return out
}

/** The line as written to this output. */
export function rendered(line: Line, output: Output): string {
  return (typeof line === 'string' ? [line] : line)
    .map((part) => (typeof part === 'string' ? visible(part) : coloured(part.style, visible(part.text), output)))
    .join('')
}

/** The text in a colour; plain if the output is not a terminal, or NO_COLOR is set. */
export function coloured(style: Style, text: string, output: Output): string {
  return styleText(style, text, { stream: output, validateStream: true })
}

/** Text of others, with hidden and look-alike characters written as `\u{430}`. */
function undisguised(text: string): string {
  return visibleParts(text)
    .map(({ kind, text: part }) => (kind === 'plain' || OWN_SIGNS.test(part) ? part : codePoint(part)))
    .join('')
}

/** Dashes and the minus, which our own sentences use. */
const OWN_SIGNS = /^[\u2013\u2014\u2212]$/

function codePoint(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`
}

/** Lines that show text of others. */
export function undisguisedLines(lines: readonly Line[]): Line[] {
  return lines.map((line) => (typeof line === 'string' ? undisguised(line) : line.map(undisguisedCell)))
}

function undisguisedCell(cell: Cell): Cell {
  return typeof cell === 'string' ? undisguised(cell) : paint(cell.style, undisguised(cell.text))
}

/** Columns under their names. Cells may hold text of others. */
export function table(header: readonly string[], rows: readonly (readonly Cell[])[]): Line[] {
  return columns([header.map((name) => paint('bold', name)), ...rows.map((row) => row.map(undisguisedCell))])
}

/** Columns as wide as their longest cell; the last of a line is not padded. */
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

/** Indented JSON, a line for each member. */
export function prettyJson(value: Json): string[] {
  return JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => `  ${line}`)
}

function widthOf(cell: Cell = ''): number {
  return columnsOf(visible(typeof cell === 'string' ? cell : cell.text))
}

/** The text padded to at least `width` columns. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

function gap(cell: Cell, width = 0): string {
  return ' '.repeat(width - widthOf(cell) + 2)
}
