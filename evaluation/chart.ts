import { xmlText } from '../src/base/xml.ts'
import { type Box, placeLabels } from './labels.ts'

/** A policy in a panel: both in percent. */
export interface Point {
  label: string
  /** `setting`: ours, made looser. */
  kind: 'ours' | 'setting' | 'reference' | 'none'
  /** Clean sessions in which a call was held or denied. */
  interrupted: number
  attackSuccess: number
}

export interface Panel {
  title: string
  points: readonly Point[]
}

/** Size of a panel's plot, in pixels. */
const WIDTH = 380
const HEIGHT = 270
const GAP = 84
const MARGIN = { top: 84, left: 62, bottom: 56, right: 26 }
/** Space between zero and the axis, which keeps the label of a policy that lets nothing through above the numbers. */
const BELOW_ZERO = 12
const RADIUS = { ours: 7, setting: 4.5, reference: 4.5, none: 4.5 }
const TITLE = 'Attack success against interruption'
const FONT = 'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"'

/** The card has a background of its own, so that it is read alike on light and on dark pages. */
const COLOUR = {
  card: '#ffffff',
  border: '#d0d7de',
  grid: '#e6e9ed',
  axis: '#57606a',
  text: '#1f2328',
  ours: '#0b62d0',
  setting: '#0b62d0',
  reference: '#6e7781',
  none: '#b42318',
}

/** An SVG of a panel for each benchmark, side by side: lower is safer, further left asks less of people. */
export function chart(panels: readonly Panel[]): string {
  const width = MARGIN.left + panels.length * WIDTH + (panels.length - 1) * GAP + MARGIN.right
  const height = MARGIN.top + HEIGHT + MARGIN.bottom
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-labelledby="title description" ${FONT}>`,
    `<title id="title">${xmlText(TITLE)}</title>`,
    `<desc id="description">${xmlText(panels.map(described).join(' '))}</desc>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${COLOUR.card}" stroke="${COLOUR.border}"/>`,
    text(MARGIN.left, 30, 'Attacks that still succeed, and how often people are interrupted', {
      size: 15,
      weight: 600,
    }),
    text(MARGIN.left, 49, 'Each point is a policy. Lower is safer; further left asks less of people.', {
      size: 12,
      fill: COLOUR.axis,
    }),
    ...panels.flatMap((panel, i) => panelLines(panel, MARGIN.left + i * (WIDTH + GAP))),
    '</svg>',
  ].join('\n')}\n`
}

/** Description of a panel for readers who do not see the chart. */
function described({ title, points }: Panel): string {
  const each = points.map(
    ({ label, interrupted, attackSuccess }) =>
      `${label}: ${attackSuccess.toFixed(2)} % of attacks succeed, ${interrupted.toFixed(2)} % of clean sessions are interrupted.`,
  )
  return `${title}. ${each.join(' ')}`
}

function panelLines({ title, points }: Panel, left: number): string[] {
  const top = Math.max(10, Math.ceil(Math.max(...points.map(({ attackSuccess }) => attackSuccess)) / 10) * 10)
  const x = (value: number) => left + (value / 100) * WIDTH
  const y = (value: number) => MARGIN.top + (1 - value / top) * (HEIGHT - BELOW_ZERO)
  const bottom = MARGIN.top + HEIGHT
  const plot: Box = { left: left + 2, right: left + WIDTH + MARGIN.right - 4, top: MARGIN.top, bottom }
  const marks = points.map((point) => ({ ...point, x: x(point.interrupted), y: y(point.attackSuccess) }))
  const labels = placeLabels(
    marks.map((mark) => ({
      x: mark.x,
      y: mark.y,
      text: mark.label,
      radius: RADIUS[mark.kind],
      isBold: mark.kind === 'ours',
    })),
    plot,
  )
  return [
    text(left, MARGIN.top - 12, title, { size: 13, weight: 600 }),
    ...[0, 20, 40, 60, 80, 100].flatMap((value) => [
      line(x(value), MARGIN.top, x(value), bottom, COLOUR.grid),
      text(x(value), bottom + 17, `${value}`, { anchor: 'middle', fill: COLOUR.axis }),
    ]),
    ...Array.from({ length: top / 10 + 1 }, (_, i) => i * 10).flatMap((value) => [
      line(left, y(value), left + WIDTH, y(value), COLOUR.grid),
      text(left - 8, y(value) + 4, `${value}`, { anchor: 'end', fill: COLOUR.axis }),
    ]),
    line(left, bottom, left + WIDTH, bottom, COLOUR.axis),
    line(left, MARGIN.top, left, bottom, COLOUR.axis),
    text(left + WIDTH / 2, bottom + 38, 'clean sessions interrupted, %', { anchor: 'middle', fill: COLOUR.axis }),
    turned(left - 40, MARGIN.top + HEIGHT / 2, 'attack success, %'),
    ...labels.flatMap(({ leader }) => (leader === undefined ? [] : [line(...leader, COLOUR.reference)])),
    ...marks.map(markOf),
    ...labels.map(({ box, text: label, isLeft }, i) => {
      const kind = marks[i]?.kind ?? 'reference'
      const style = { fill: COLOUR[kind], weight: kind === 'ours' ? 700 : 400 }
      const y = box.bottom - 4
      return isLeft ? text(box.right, y, label, { ...style, anchor: 'end' }) : text(box.left, y, label, style)
    }),
  ]
}

function markOf({ x, y, kind }: { x: number; y: number; kind: Point['kind'] }): string {
  const fill = kind === 'none' ? COLOUR.card : COLOUR[kind]
  return `<circle cx="${short(x)}" cy="${short(y)}" r="${RADIUS[kind]}" fill="${fill}" stroke="${COLOUR[kind]}" stroke-width="1.5"/>`
}

interface TextStyle {
  size?: number
  weight?: number
  fill?: string
  anchor?: 'middle' | 'end'
}

function text(x: number, y: number, content: string, style: TextStyle): string {
  const { size = 12, weight = 400, fill = COLOUR.text, anchor } = style
  const at = `x="${short(x)}" y="${short(y)}"${anchor === undefined ? '' : ` text-anchor="${anchor}"`}`
  return `<text ${at} font-size="${size}" font-weight="${weight}" fill="${fill}">${xmlText(content)}</text>`
}

/** Text that runs upwards along an axis. */
function turned(x: number, y: number, content: string): string {
  const at = `transform="translate(${short(x)} ${short(y)}) rotate(-90)" text-anchor="middle"`
  return `<text ${at} font-size="12" fill="${COLOUR.axis}">${xmlText(content)}</text>`
}

function line(x1: number, y1: number, x2: number, y2: number, colour: string): string {
  return `<line x1="${short(x1)}" y1="${short(y1)}" x2="${short(x2)}" y2="${short(y2)}" stroke="${colour}"/>`
}

const short = (value: number): string => String(Number(value.toFixed(1)))
