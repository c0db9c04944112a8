import { columnsOf } from '../../base/columns.ts'
import { visible } from '../../base/visible.ts'

/** A source line as a terminal shows it, and the position of the fault in it, in columns of the terminal. */
export interface Excerpt {
  text: string
  /** Columns before the fault. */
  indent: number
  /** Columns of the fault that are shown, at least 1. */
  width: number
}

/** One cell of a terminal: a character with the marks over it. Offsets in UTF-16 units of the line. */
interface Cell {
  shown: string
  columns: number
  start: number
  end: number
}

const TAB = '    '
const CUT = '…'

/**
 * The part of a line around a fault, at most `columns` wide. A policy may be one line of a megabyte, and is not
 * trusted with the reader's terminal: characters that would steer it are shown escaped.
 *
 * @param start Where the fault begins and `end` where it is over, as offsets in UTF-16 units
 */
export function excerptOf(line: string, start: number, end: number, columns: number): Excerpt {
  const from = Math.max(0, start - 2 * columns)
  const cells = cellsOf(line.slice(from, start + 2 * columns), from)
  const first = indexAt(cells, start)
  const [begin, stop] = windowOf(cells, first, columns - 2 * CUT.length)
  const shown = cells.slice(begin, stop)
  const isCutBefore = from > 0 || begin > 0
  const isCutAfter = stop < cells.length || (cells.at(-1)?.end ?? 0) < line.length
  const text = shown.map((cell) => cell.shown).join('')
  const marked = cells.slice(first, stop).filter((cell) => cell.start < end)
  return {
    text: `${isCutBefore ? CUT : ''}${text}${isCutAfter ? CUT : ''}`,
    indent: (isCutBefore ? CUT.length : 0) + columnsIn(cells.slice(begin, first)),
    width: Math.max(1, columnsIn(marked)),
  }
}

function cellsOf(text: string, from: number): Cell[] {
  const cells: Cell[] = []
  let start = from
  for (const char of text) {
    const end = start + char.length
    const shown = char === '\t' ? TAB : visible(char)
    const columns = columnsOf(shown)
    const before = cells.at(-1)
    if (columns > 0) cells.push({ shown, columns, start, end })
    // A combining mark without a base character gets the dotted circle as its base.
    else if (before === undefined) cells.push({ shown: `◌${shown}`, columns: 1, start, end })
    else Object.assign(before, { shown: before.shown + shown, end })
    start = end
  }
  return cells
}

/** The cell in which an offset lies; the end of the cells for an offset behind them. */
function indexAt(cells: readonly Cell[], offset: number): number {
  const index = cells.findIndex(({ end }) => offset < end)
  return index < 0 ? cells.length : index
}

/** The window of shown cells: most of the room is for the fault and the text after it. */
function windowOf(cells: readonly Cell[], first: number, room: number): [begin: number, end: number] {
  let [begin, end, used] = [first, first, 0]
  const extendTo = (most: number): void => {
    for (let cell = cells[end]; cell !== undefined && used + cell.columns <= most; cell = cells[end]) {
      used += cell.columns
      end += 1
    }
  }
  extendTo(Math.ceil((room * 2) / 3))
  for (let cell = cells[begin - 1]; cell !== undefined && used + cell.columns <= room; cell = cells[begin - 1]) {
    used += cell.columns
    begin -= 1
  }
  extendTo(room)
  return [begin, end]
}

function columnsIn(cells: readonly Cell[]): number {
  return cells.reduce((sum, cell) => sum + cell.columns, 0)
}
