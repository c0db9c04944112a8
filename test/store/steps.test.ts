import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Awaitable, read, runLater, runNow, type Steps } from '../../src/store/steps.ts'
import { runs } from '../tier.ts'

type Answer = () => Awaitable<number>

/** The sum of what is read, where a read that fails counts as -1. */
function* sumOf(answers: readonly Answer[]): Steps<number> {
  let sum = 0
  for (const answer of answers)
    try {
      sum += yield* read(answer())
    } catch {
      sum -= 1
    }
  return sum
}

function failing(): never {
  throw new Error('not there')
}

test('work over a server does what it does over a file, with reads that fail too', async () => {
  const someReads = fc.array(fc.option(fc.integer({ min: -99, max: 99 })))
  await fc.assert(
    fc.asyncProperty(someReads, async (values) => {
      const atOnce = values.map(
        (value): Answer =>
          () =>
            value ?? failing(),
      )
      const later = values.map(
        (value): Answer =>
          async () =>
            value ?? failing(),
      )
      const expected = values.reduce<number>((sum, value) => sum + (value ?? -1), 0)
      assert.equal(runNow(sumOf(atOnce)), expected)
      assert.equal(await runLater(sumOf(later)), expected)
    }),
    { numRuns: runs(200) },
  )
})
