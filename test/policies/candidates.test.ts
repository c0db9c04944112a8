import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Glob, globMatches, parseGlob } from '../../src/base/glob.ts'
import { indexCandidates } from '../../src/policies/candidates.ts'
import { runs } from '../tier.ts'

function globs(...texts: string[]): { actions: Glob[] } {
  return { actions: texts.flatMap((text) => parseGlob(text) ?? []) }
}

const LOOKUPS: [action: string, positions: number[]][] = [
  ['pay.a', [0, 1, 2, 5]],
  ['pay', [2, 5]],
  ['pay.a.b', [2, 3, 5]],
  ['mail.a', [4, 5]],
  ['pax.a', [1, 5]],
]

for (const [action, positions] of LOOKUPS) {
  test(`candidates: ${action}`, () => {
    const items = [
      globs('pay.a', 'pay.*'),
      globs('pa*.a'),
      globs('pay.**'),
      globs('pay.a.b'),
      globs('mail.*', 'x'),
      globs('**'),
    ]
    assert.deepEqual(indexCandidates(items)(action), positions)
  })
}

test('candidates: positions are in the order of numbers, also from ten on', () => {
  const items = Array.from({ length: 12 }, (_, i) => globs(i % 2 ? 'a' : '*'))
  assert.deepEqual(indexCandidates(items)('a'), [...items.keys()])
})

const segment = fc.constantFrom('a', 'b', 'ab', 'ba', 'a-b', '')
const action = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'))
const pattern = fc
  .array(fc.oneof(segment, fc.constantFrom('*', '**', 'a*', '*b', '*a*')), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('.'))

test('property: the index finds what comparing with every pattern finds', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(pattern, { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
      action,
      (texts, asked) => {
        const items = texts.map((some) => globs(...some))
        const wanted = items.flatMap(({ actions }, i) => (actions.some((glob) => globMatches(glob, asked)) ? [i] : []))
        assert.deepEqual(indexCandidates(items)(asked), wanted)
      },
    ),
    { numRuns: runs(2000) },
  )
})
