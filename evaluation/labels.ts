/** Puts labels beside the points of a chart, so that none covers another or a point. Pixels, y downwards. */

export interface Box {
  left: number
  right: number
  top: number
  bottom: number
}

interface Mark {
  x: number
  y: number
  radius: number
  text: string
  isBold: boolean
}

interface Label {
  text: string
  box: Box
  /** It stands to the left of its point, and ends there. */
  isLeft: boolean
  /** A line from the point to a label that stands away from it. */
  leader: readonly [x1: number, y1: number, x2: number, y2: number] | undefined
}

/** Widths of a character of 12 px on average, in the widest of the usual fonts. */
const CHARACTER = { normal: 7.2, bold: 8 }
const LINE = 16
const NEAR = 4
/** Rows above and below a point that are tried, the nearest first. */
const ROWS = [0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6]

/** A label for each mark, in the order of the marks. Where everything near is taken, it stands to the right all the same. */
export function placeLabels(marks: readonly Mark[], within: Box): Label[] {
  const taken = marks.map(({ x, y, radius }) => ({
    left: x - radius,
    right: x + radius,
    top: y - radius,
    bottom: y + radius,
  }))
  return marks.map((mark) => {
    const candidates = ROWS.flatMap((row) => [candidate(mark, row, 'right'), candidate(mark, row, 'left')])
    const free = candidates.find(({ box }) => isInside(box, within) && !taken.some((other) => overlap(box, other)))
    const label = free ?? candidate(mark, 0, 'right')
    taken.push(label.box)
    return label
  })
}

function candidate({ x, y, radius, text, isBold }: Mark, row: number, side: 'left' | 'right'): Label {
  const width = text.length * (isBold ? CHARACTER.bold : CHARACTER.normal)
  // Further rows begin a little further out, so that the line to them is seen.
  const away = radius + NEAR + (Math.abs(row) > 1 ? 10 : 0)
  const left = side === 'right' ? x + away : x - away - width
  const middle = y + row * LINE
  const box = { left, right: left + width, top: middle - LINE / 2, bottom: middle + LINE / 2 }
  const end = side === 'right' ? left - 2 : left + width + 2
  return { text, box, isLeft: side === 'left', leader: row === 0 ? undefined : [x, y, end, middle] }
}

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

const isInside = (a: Box, b: Box): boolean =>
  a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom
