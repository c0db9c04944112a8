import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decimalOf, minus, plus, toNumber, ZERO } from '../../src/base/decimal.ts'

const SUMS: [numbers: number[], sum: number][] = [
  [[], 0],
  [[0.1, 0.1, 0.1], 0.3],
  [[0.1, 0.2], 0.3],
  [[1e21, 1, -1e21], 1],
  [[1e-7, 2e-7], 3e-7],
  [[5e-324, 1e308, -1e308], 5e-324],
  [[-0, 0], 0],
  [[19.99, 5.01], 25],
  [[1e308, 1e308], Number.POSITIVE_INFINITY],
]

for (const [numbers, sum] of SUMS) {
  test(`decimal: ${numbers.join(' + ')} is ${sum}, as people add`, () => {
    assert.equal(toNumber(numbers.map(decimalOf).reduce(plus, ZERO)), sum)
  })
}

const number = fc.double({ noNaN: true, noDefaultInfinity: true })

test('property: every number is read as it is written, and comes back', () => {
  fc.assert(fc.property(number, (value) => assert.equal(toNumber(decimalOf(value)), value === 0 ? 0 : value)))
})

test('property: what is added and taken off again, in whatever order, leaves the rest exactly', () => {
  fc.assert(
    fc.property(fc.array(number), fc.array(number), (left, gone) => {
      const all = [...gone, ...left].map(decimalOf).reduce(plus, ZERO)
      const rest = gone.map(decimalOf).reduce(minus, all)
      assert.equal(toNumber(rest), toNumber([...left].reverse().map(decimalOf).reduce(plus, ZERO)))
    }),
  )
})

test('decimal: what is not finite is no decimal', () => {
  assert.throws(() => decimalOf(Number.POSITIVE_INFINITY), RangeError)
  assert.throws(() => decimalOf(Number.NaN), RangeError)
})
