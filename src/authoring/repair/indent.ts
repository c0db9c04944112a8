import { type Line, lastLineOf, lineIndexAt, linesOf } from '../yaml/lines.ts'
import type { Source } from '../yaml/node.ts'
import type { Problem } from '../yaml/syntax.ts'
import { type Edit, KEYS, type Mending, mending, misaligned, type Repair, TOP_KEYS } from './repair.ts'

/** Most columns that are tried for an item or key. */
const MAX_COLUMNS = 3
const MAX_TOP_INDENT = 3

/** Moves the line of the problem, or the one after it, to a column of something above it. */
export function indentRepairs({ place }: Problem, source: Source): Repair[] {
  const lines = linesOf(source.text)
  const index = lineIndexAt(lines, place.start)
  const next = lines.findIndex(({ isEmpty }, i) => i > index && !isEmpty)
  return [
    ...blockTextRepair(lines, index, source),
    ...dashRepair(lines, index, source),
    ...moves(lines, index, source),
    ...(next < 0 ? [] : moves(lines, next, source)),
  ]
}

/** Columns of keys, or of dashes, to which a line can be aligned. */
function columnsAbove(lines: readonly Line[], index: number, isItem: boolean): number[] {
  const found: number[] = []
  let least = Number.POSITIVE_INFINITY
  let isFirst = true
  for (let i = index - 1; i >= 0 && least > 0; i -= 1) {
    const line = lines[i]
    if (line === undefined || line.isEmpty || line.indent >= least) continue
    least = line.indent
    // The items of a key may stand at its own column.
    const opens = isFirst && line.key !== undefined && line.value === line.end
    isFirst = false
    if (line.key !== undefined && (!isItem || opens)) found.push(line.column)
    if (isItem) found.push(...line.dashes)
  }
  return [...new Set(found)]
}

function moves(lines: readonly Line[], index: number, source: Source): Repair[] {
  const line = lines[index]
  if (line === undefined || index === 0 || (line.key === undefined && line.dashes.length === 0)) return []
  const isItem = line.dashes.length > 0
  // Deeper down, it is a key of something else with the same name.
  const isTop = !isItem && line.indent <= MAX_TOP_INDENT && TOP_KEYS.has(line.key ?? '')
  const distance = (column: number): number => Math.abs(column - line.indent)
  const columns = columnsAbove(lines, index, isItem)
    .filter((column) => column !== line.indent && (isItem || isTop || column > 0))
    .sort((a, b) => distance(a) - distance(b) || b - a)
    .slice(0, MAX_COLUMNS)
  // Moves the line with everything deeper below it, with all lines of the same fault, or alone.
  const runs = [lastLineOf(lines, index, line.indent), lastLineOf(lines, index, line.indent - 1), index]
  return columns.flatMap((column) => {
    const what = isItem ? 'The dash' : `The key ${line.key}`
    const mendings = [firstWord(line, source, misaligned(what, line.indent + 1, column + 1))]
    return [...new Set(runs)].map((last) => {
      const run = lines.slice(index, last + 1).filter(({ isEmpty }) => !isEmpty)
      return { edits: moved(run, column - line.indent), mendings }
    })
  })
}

/** Adds `- ` before a key that begins an item, as keys above it do. */
function dashRepair(lines: readonly Line[], index: number, source: Source): Repair[] {
  const line = lines[index]
  const item = lines.slice(0, index).findLast(({ dashes, column }) => dashes.length > 0 && column > (line?.indent ?? 0))
  if (line?.key === undefined || line.dashes.length > 0 || item?.key !== line.key) return []
  const column = item.column - (item.dashes.at(-1) ?? 0)
  const mendings = [firstWord(line, source, `A dash is missing before ${line.key}.`)]
  const next = lines.findIndex(
    (one, i) => i > index && !one.isEmpty && (one.dashes.length > 0 || one.indent < line.indent),
  )
  const run = lines.slice(index + 1, next < 0 ? lines.length : next).filter(({ isEmpty }) => !isEmpty)
  const at = line.start + line.indent
  const dash = { start: at, end: at, text: `-${' '.repeat(column - 1)}` }
  return [{ edits: [dash, ...moved(run, column)], mendings }]
}

/** A fault of the dash or key that begins a line. */
function firstWord({ start, indent, dashes, key }: Line, source: Source, message: string): Mending {
  const length = dashes.length > 0 ? 1 : (key?.length ?? 1)
  return mending(source, start + indent, start + indent + length, message)
}

function moved(lines: readonly Line[], shift: number): Edit[] {
  return lines.map(({ start, indent }) =>
    shift > 0
      ? { start, end: start, text: ' '.repeat(shift) }
      : { start, end: start + Math.min(indent, -shift), text: '' },
  )
}

/** Indents the text under `|` or `>` that stands no deeper than its key. */
function blockTextRepair(lines: readonly Line[], index: number, source: Source): Repair[] {
  const above = lines.slice(0, index).findLastIndex(({ isEmpty }) => !isEmpty)
  const head = lines[above]
  const line = lines[index]
  if (head?.key === undefined || line === undefined) return []
  if (!/^[|>][-+\d]*$/.test(source.text.slice(head.value, head.end))) return []
  const sign = source.text.slice(head.value, head.value + 1)
  const column = head.column + 2
  const message = `The text under ${sign} must be indented deeper than its key, to column ${column + 1}.`
  const mendings = [mending(source, line.start + line.indent, line.end, message)]
  const from = above + 1
  // The end of the text is unknown: before the next key, or after its first line.
  const last = lines.findIndex(({ key, dashes }, i) => i > index && (KEYS.has(key ?? '') || dashes.length > 0))
  const ends = [last < 0 ? lines.length : last, lines.length, index + 1]
  return ends.map((end) => ({
    edits: lines
      .slice(from, end)
      .filter(({ isEmpty, indent }) => !isEmpty && indent < column)
      .map(({ start, indent }) => ({ start, end: start, text: ' '.repeat(column - indent) })),
    mendings,
  }))
}
