import { partitionPoint } from '../../base/partition-point.ts'
import { lineEndOf } from './node.ts'

/** A line of a block of YAML. Columns count from 0. */
export interface Line {
  readonly start: number
  /** End of its text, without comment. */
  readonly end: number
  /** Column of its first character. */
  readonly indent: number
  /** Columns of the dashes that begin it. */
  readonly dashes: readonly number[]
  /** Column of the text after the dashes. */
  readonly column: number
  readonly key: string | undefined
  /** Offset of the value after the key or the last dash. */
  readonly value: number
  /** True when nothing but a comment stands in it. */
  readonly isEmpty: boolean
}

const LINE = /^( *)((?:- +|-$)*)(?:((?:"[^"]*"|'[^']*'|[\w.$/*-]+)) *:(?= |$))? *(.*)$/
/** The text before a comment: a # inside quotes begins none. */
const CONTENT = /^(?:[^"'#]|"(?:[^"\\]|\\.)*"|'[^']*'|["']|(?<!\s)#)*/

export function linesOf(text: string): Line[] {
  const lines: Line[] = []
  for (let start = 0; start <= text.length; ) {
    const end = lineEndOf(text, start)
    lines.push(lineOf(text.slice(start, end), start))
    start = end + 1
  }
  return lines
}

function lineOf(whole: string, start: number): Line {
  const isComment = /^\s*#/.test(whole)
  const text = isComment ? '' : (CONTENT.exec(whole)?.[0] ?? '').trimEnd()
  const [, indent = '', dashes = '', key, value = ''] = LINE.exec(text) ?? []
  return {
    start,
    end: start + text.length,
    indent: indent.length,
    dashes: [...dashes.matchAll(/-/g)].map(({ index }) => indent.length + index),
    column: indent.length + dashes.length,
    key,
    value: start + text.length - value.length,
    isEmpty: text === '',
  }
}

/** The index of the line at an offset. */
export function lineIndexAt(lines: readonly Line[], at: number): number {
  return Math.max(0, partitionPoint(lines.length, (i) => (lines[i]?.start ?? 0) <= at) - 1)
}

/** The index of the last line of the block that begins at a column of a line: lines indented deeper belong to it. */
export function lastLineOf(lines: readonly Line[], index: number, column: number): number {
  let last = index
  for (const [i, { isEmpty, indent }] of lines.entries()) {
    if (i <= index || isEmpty) continue
    if (indent <= column) break
    last = i
  }
  return last
}

/** The column against which text below a line is indented: that of its key, or of its dash. */
export function ownColumn({ key, dashes, column }: Line): number {
  return key === undefined ? (dashes.at(-1) ?? column) : column
}
