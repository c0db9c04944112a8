import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { partitionPoint } from '../../src/base/partition-point.ts'

const searched = fc.nat(300).chain((length) => fc.tuple(fc.constant(length), fc.nat(length)))

test('property: a search finds the first item that fails, wherever it begins', () => {
  fc.assert(
    fc.property(
      searched,
      fc.option(fc.integer({ min: -5, max: 400 }), { nil: undefined }),
      ([length, result], near) => {
        const holds = (i: number): boolean => {
          assert.ok(i >= 0 && i < length, 'asks only about items')
          return i < result
        }
        assert.equal(partitionPoint(length, holds, near), result)
      },
    ),
    { numRuns: 1000 },
  )
})

test('a search that begins near its result asks about few of a million items', () => {
  const asked = (near: number): number => {
    let times = 0
    const holds = (i: number): boolean => {
      times += 1
      return i < 500_000
    }
    assert.equal(partitionPoint(1_000_000, holds, near), 500_000)
    return times
  }
  assert.deepEqual([500_000, 500_001, 499_999].map(asked), [2, 4, 2])
  assert.ok(Math.max(...[500_100, 499_900].map(asked)) <= 14)
})
