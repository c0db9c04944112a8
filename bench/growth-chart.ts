import { xmlText } from '../src/base/xml.ts'
import type { GrowthResult } from './growth.ts'

const PANEL = { width: 250, height: 180, gap: 60 }
const MARGIN = { top: 60, left: 56, bottom: 40, right: 24 }
const TITLE = 'Time of a check at 32 connections, ms'
/** `rise` of the numbers over the points, in pixels. */
const LINES = [
  { pick: ({ p99Ms }: GrowthResult) => p99Ms, name: 'p99', colour: '#b42318', rise: 8 },
  { pick: ({ p50Ms }: GrowthResult) => p50Ms, name: 'p50', colour: '#0b62d0', rise: -15 },
]
const GREY = '#57606a'

/** An SVG with a panel for each kind of growth. It has a background of its own, so that it is read alike on light and dark pages. */
export function growthChart(results: readonly GrowthResult[]): string {
  const kinds = [...new Set(results.map(({ what }) => what))]
  const width = MARGIN.left + kinds.length * (PANEL.width + PANEL.gap) - PANEL.gap + MARGIN.right
  const height = MARGIN.top + PANEL.height + MARGIN.bottom
  const told = results.map(({ what, count, p50Ms, p99Ms }) => `${count} ${what}: p50 ${p50Ms} ms, p99 ${p99Ms} ms.`)
  const panels = kinds.map((kind, i) =>
    panel(
      results.filter(({ what }) => what === kind),
      MARGIN.left + i * (PANEL.width + PANEL.gap),
    ),
  )
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description" font-family="system-ui, sans-serif" font-size="11">`,
    `<title id="title">${xmlText(TITLE)}</title>`,
    `<desc id="description">${xmlText(told.join(' '))}</desc>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="#ffffff" stroke="#d0d7de"/>`,
    label(MARGIN.left, 26, TITLE, 'fill="#1f2328" font-size="15" font-weight="600"'),
    ...panels.flat(),
    '</svg>',
  ].join('\n')}\n`
}

function panel(results: readonly GrowthResult[], left: number): string[] {
  const most = Math.max(...results.map(({ p99Ms }) => p99Ms)) * 1.15
  const bottom = MARGIN.top + PANEL.height
  const x = (i: number): number => left + 20 + (i * (PANEL.width - 40)) / Math.max(1, results.length - 1)
  const y = (ms: number): number => bottom - (ms / most) * PANEL.height
  const counts = results.map(({ count }, i) =>
    label(x(i), bottom + 16, count.toLocaleString('en'), `fill="${GREY}" text-anchor="middle"`),
  )
  const lines = LINES.flatMap(({ pick, name, colour, rise }) => {
    const points = results.map((result, i) => [x(i), y(pick(result))] as const)
    const path = points.map((point) => point.map((at) => at.toFixed(1)).join(',')).join(' ')
    const numbers = results.map((result, i) =>
      label(x(i), y(pick(result)) - rise, pick(result).toFixed(0), `fill="${colour}" text-anchor="middle"`),
    )
    const [, last = 0] = points.at(-1) ?? []
    return [
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...points.map(([cx, cy]) => `<circle cx="${cx.toFixed(1)}" cy="${cy.toFixed(1)}" r="3" fill="${colour}"/>`),
      ...numbers,
      label(left + PANEL.width - 10, last + 4, name, `fill="${colour}"`),
    ]
  })
  return [
    `<line x1="${left}" y1="${bottom}" x2="${left + PANEL.width}" y2="${bottom}" stroke="${GREY}"/>`,
    label(left + PANEL.width / 2, bottom + 32, results[0]?.what ?? '', `fill="${GREY}" text-anchor="middle"`),
    ...counts,
    ...lines,
  ]
}

function label(x: number, y: number, text: string, style: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${style}>${xmlText(text)}</text>`
}
