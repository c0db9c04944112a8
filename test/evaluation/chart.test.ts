import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { chart, type Panel, type Point } from '../../evaluation/chart.ts'
import { placeLabels } from '../../evaluation/labels.ts'
import { readElements } from '../authoring/cases/xml-reader.ts'

const OURS: Point = { label: 'gate-sidecar', kind: 'ours', interrupted: 30, attackSuccess: 6 }
const NONE: Point = { label: 'no defence', kind: 'none', interrupted: 0, attackSuccess: 47.69 }
const PANEL: Panel = { title: 'One', points: [OURS, NONE] }

const percent = fc.double({ min: 0, max: 100, noNaN: true })
const points = fc.array(
  fc.record<Point>({
    label: fc.string({ unit: 'binary', maxLength: 30 }),
    kind: fc.constantFrom('ours', 'reference', 'none'),
    interrupted: percent,
    attackSuccess: percent,
  }),
  { minLength: 1, maxLength: 8 },
)

describe('the chart', () => {
  test('is well-formed, whatever labels and titles hold, and has a mark for each point inside its card', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record<Panel>({ title: fc.string({ unit: 'binary' }), points }), { minLength: 1, maxLength: 3 }),
        (panels) => {
          const elements = readElements(chart(panels))
          const size = elements[0]?.attributes ?? {}
          const marks = elements.filter(({ name }) => name === 'circle')
          assert.equal(marks.length, panels.flatMap((panel) => panel.points).length)
          for (const { attributes } of marks) {
            assert.ok(Number(attributes.cx) > 0 && Number(attributes.cx) < Number(size.width), attributes.cx)
            assert.ok(Number(attributes.cy) > 0 && Number(attributes.cy) < Number(size.height), attributes.cy)
          }
        },
      ),
    )
  })

  test('escapes what stands in a label', () => {
    const svg = chart([{ title: 'a & b', points: [{ ...OURS, label: `<script>"'</script>` }] }])
    assert.match(svg, />&lt;script&gt;&quot;&apos;&lt;\/script&gt;</)
    assert.match(svg, />a &amp; b</)
    assert.doesNotMatch(svg, /<script/)
  })

  test('tells who does not see it what it shows', () => {
    const svg = chart([PANEL])
    const [root] = readElements(svg)
    assert.equal(root?.attributes.role, 'img')
    for (const id of (root?.attributes['aria-labelledby'] ?? '').split(' '))
      assert.match(svg, new RegExp(` id="${id}">[^<]`))
    assert.match(svg, /gate-sidecar: 6\.00 % of attacks succeed, 30\.00 % of clean sessions are interrupted\./)
    assert.match(svg, /no defence: 47\.69 % of attacks succeed/)
  })

  test('is the same for the same points', () => {
    assert.equal(chart([PANEL, PANEL]), chart([PANEL, PANEL]))
  })

  test('puts a policy that is safer below, and one that interrupts more to the right', () => {
    const [ours, none] = readElements(chart([PANEL])).filter(({ name }) => name === 'circle')
    assert.ok(Number(ours?.attributes.cy) > Number(none?.attributes.cy))
    assert.ok(Number(ours?.attributes.cx) > Number(none?.attributes.cx))
  })

  /** Contrast of WCAG 2 between two colours as `#rrggbb`. */
  const contrast = (a: string, b: string): number => {
    const luminance = (colour: string): number => {
      const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
        const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
        return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
    return (light + 0.05) / (dark + 0.05)
  }

  test('has a background of its own, on which every text can be read', () => {
    const elements = readElements(chart([{ ...PANEL, points: [OURS, NONE, { ...OURS, kind: 'reference' }] }]))
    const card = elements.find(({ name }) => name === 'rect')?.attributes.fill ?? ''
    const colours = new Set(
      elements.filter(({ name }) => name === 'text').map(({ attributes }) => attributes.fill ?? ''),
    )
    assert.ok(colours.size >= 4)
    for (const colour of colours) assert.ok(contrast(card, colour) >= 4.5, `${colour} on ${card}`)
  })
})

test('labels cover neither one another nor a point, while there is room', () => {
  const within = { left: 0, right: 400, top: 0, bottom: 300 }
  const mark = fc.record({
    x: fc.integer({ min: 20, max: 380 }),
    y: fc.integer({ min: 20, max: 280 }),
    radius: fc.constant(5),
    text: fc.string({ maxLength: 20 }),
    isBold: fc.boolean(),
  })
  const overlap = (a: typeof within, b: typeof within) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
  fc.assert(
    fc.property(fc.array(mark, { maxLength: 5 }), (marks) => {
      const boxes = placeLabels(marks, within).map(({ box }) => box)
      const circles = marks.map(({ x, y, radius: r }) => ({ left: x - r, right: x + r, top: y - r, bottom: y + r }))
      for (const [i, box] of boxes.entries()) {
        for (const other of [...boxes.slice(i + 1), ...circles]) assert.ok(!overlap(box, other))
        assert.ok(box.left >= 0 && box.right <= 400 && box.top >= 0 && box.bottom <= 300)
      }
    }),
  )
})
