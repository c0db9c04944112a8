import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { percentile } from '../../src/base/percentile.ts'
import { quantiles, roundLimit } from '../../src/suggest/quantiles.ts'

const number = fc.oneof(
  fc.integer({ min: -1_000_000, max: 1_000_000 }),
  fc.double({ min: -1e6, max: 1e9, noNaN: true, noDefaultInfinity: true }),
)

test('percentiles are those of all values, or up to a hundredth more, and never more than the largest', () => {
  fc.assert(
    fc.property(fc.array(number, { minLength: 1, maxLength: 300 }), (values) => {
      const seen = quantiles()
      for (const value of values) seen.add(value)
      const { count, max, ...found } = seen.result() ?? assert.fail()
      const sorted = values.toSorted((a, b) => a - b)
      assert.deepEqual([count, max], [values.length, sorted.at(-1)])
      for (const [percent, value] of [
        [50, found.p50],
        [95, found.p95],
        [99, found.p99],
      ] as const) {
        const exact = percentile(sorted, percent) ?? assert.fail()
        assert.ok(
          value >= exact && value <= Math.min(max, exact + Math.abs(exact) / 100),
          `${percent}: ${value} of ${exact}`,
        )
      }
    }),
  )
})

test('a round limit is 1, 2 or 5 and a power of ten, not below the value, and not twice the next smaller one', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (value) => {
      const limit = roundLimit(value)
      assert.match(String(Number(limit.toExponential().split('e')[0])), /^[125]$/)
      assert.ok(limit >= value && limit <= value * 2.5 * (1 + 1e-9), `${limit} for ${value}`)
    }),
  )
  assert.deepEqual([900, 1000, 1001, 0.3, 1].map(roundLimit), [1000, 1000, 2000, 0.5, 1])
})
