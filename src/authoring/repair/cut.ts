import { type Line, lastLineOf, lineIndexAt, linesOf } from '../yaml/lines.ts'
import type { Source } from '../yaml/node.ts'
import type { Problem } from '../yaml/syntax.ts'
import { type Edit, edited, type Mending, type Repair } from './repair.ts'

/** Ways to cut out unreadable text, from the least of it to everything that follows. The problem is the fault reported. */
export function cuts({ place, message, effectEnd }: Problem, source: Source): Repair[] {
  const lines = linesOf(source.text)
  const index = lineIndexAt(lines, place.start)
  const mendings: Mending[] = [{ place, message }]
  const around = enclosing(lines, index)
  const last = lineIndexAt(lines, Math.max(effectEnd - 1, place.start))
  const column = lines[index]?.indent ?? 0
  const edits = [
    ...valueCuts(lines, index, place.start, column + 1),
    ...entryCut(lines, index, index),
    ...entryCut(lines, index, Math.max(last, index)),
    ...around.flatMap((one) => valueCuts(lines, one, place.start, column)),
    ...entryCut(lines, around.at(-1) ?? index, lines.length - 1),
  ]
  return edits.map((edit) => ({ edits: [edit], mendings }))
}

/** The text before the entry with the problem, an entry of the document or of its list or mapping. */
export function textBefore({ place }: Problem, source: Source): Source {
  const lines = linesOf(source.text)
  const index = lineIndexAt(lines, place.start)
  const around = [index, ...enclosing(lines, index)]
  const start = lines[around.at(-2) ?? index]?.start ?? 0
  return edited(source, [{ start, end: source.text.length, text: '', leftOut: 'entry' }])
}

/** Cuts the value of a key left of a column, and the item that holds the key, when they begin before the problem. */
function valueCuts(lines: readonly Line[], index: number, at: number, column: number): Edit[] {
  const line = lines[index]
  if (line === undefined) return []
  const cut = (start: number, own: number): Edit[] => {
    const end = lines[lastLineOf(lines, index, own)]?.end ?? start
    return at < start ? [] : [{ start, end: Math.max(start, end), text: ' ~', leftOut: 'value' }]
  }
  const isBelowKey = line.key !== undefined && (line.column < column || line.indent + 1 === column)
  const dash = line.dashes.at(-1)
  return [
    ...(isBelowKey ? cut(line.value, line.column) : []),
    ...(dash === undefined ? [] : cut(line.start + dash + 1, dash)),
  ]
}

/** Cuts whole lines with everything indented below them, but not all entries of a key. */
function entryCut(lines: readonly Line[], from: number, to: number): Edit[] {
  const first = lines[from]
  const last = lastLineOf(lines, to, lines[to]?.indent ?? 0)
  if (first === undefined) return []
  const above = lines.slice(0, from).findLast(({ isEmpty }) => !isEmpty)
  const below = lines.slice(last + 1).find(({ isEmpty }) => !isEmpty)
  const isOnly =
    above !== undefined && above.value === above.end && (below === undefined || below.indent < first.indent)
  if (isOnly && first.indent > 0) return []
  return [{ start: first.start, end: Math.max(first.start, lines[last]?.end ?? 0), text: '', leftOut: 'entry' }]
}

/** Indexes of the lines that enclose a line, the nearest first. */
function enclosing(lines: readonly Line[], index: number): number[] {
  const found: number[] = []
  let column = lines[index]?.indent ?? 0
  for (let i = index - 1; i >= 0 && column > 0; i -= 1) {
    const line = lines[i]
    if (line === undefined || line.isEmpty || line.indent >= column) continue
    found.push(i)
    column = line.indent
  }
  return found
}
