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
  /** True for a label to the left of its point, with its end there. */
  isLeft: boolean
  /** A line from the point to a label that stands away from it. */
  leader: readonly [x1: number, y1: number, x2: number, y2: number] | undefined
}

/** Widths of a character of 12 px on average, in the widest of the usual fonts. */
const CHARACTER = { normal: 7.2, bold: 8 }
const LINE = 16
const ATTEMPTS = 20
const NEAR = 4
/** Rows above and below a point that are tried, the nearest first. */
const ROWS = [0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6]

/**
 * A label for each mark, in the order of the marks. Each takes the nearest place that is free; the one that finds none has the
 * first choice when all are placed anew. If that does not help, it stands to the right all the same.
 */
export function placeLabels(marks: readonly Mark[], within: Box): Label[] {
  let order = [...marks.keys()]
  for (let attempt = 0; ; attempt += 1) {
    const { labels, failed } = placeInOrder(marks, order, within)
    if (failed === undefined || attempt === ATTEMPTS) return marks.flatMap((_, i) => labels.get(i) ?? [])
    order = [failed, ...order.filter((i) => i !== failed)]
  }
}

/** @returns the labels; `failed` is the first mark without a free place */
function placeInOrder(marks: readonly Mark[], order: readonly number[], within: Box) {
  const points = marks.map(({ x, y, radius: r }) => ({ left: x - r, right: x + r, top: y - r, bottom: y + r }))
  const labels = new Map<number, Label>()
  let failed: number | undefined
  for (const i of order) {
    const mark = marks[i]
    if (mark === undefined) continue
    const isFree = (label: Label): boolean =>
      isInside(label.box, within) &&
      !points.some((point) => overlap(label.box, point)) &&
      ![...labels.values()].some(inWayOf(label))
    const found = ROWS.flatMap((row) => [candidate(mark, row, 'right'), candidate(mark, row, 'left')]).find(isFree)
    if (found === undefined) failed ??= i
    labels.set(i, found ?? candidate(mark, 0, 'right'))
  }
  return { labels, failed }
}

/** Returns a test for labels that overlap this one: both texts, or the leader of one and the text of the other. */
function inWayOf(label: Label): (other: Label) => boolean {
  return (other) =>
    overlap(label.box, other.box) || crosses(label.leader, other.box) || crosses(other.leader, label.box)
}

/** True when a leader crosses a box: it is sampled once a pixel, which is near enough. */
function crosses(leader: Label['leader'], box: Box): boolean {
  if (leader === undefined) return false
  const [x1, y1, x2, y2] = leader
  const steps = Math.ceil(Math.max(Math.abs(x2 - x1), Math.abs(y2 - y1), 1))
  return Array.from({ length: steps + 1 }, (_, i) => i / steps).some((part) => {
    const [x, y] = [x1 + part * (x2 - x1), y1 + part * (y2 - y1)]
    return x > box.left && x < box.right && y > box.top && y < box.bottom
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
