import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { stoppedMs } from '../../src/killswitch/killswitch.ts'
import { at, stopOf, T0 } from './stops.ts'

const PAY = { chain: 'acme/live', action: 'payment.transfer', domain: undefined }
const SPAN = 60

interface Interval {
  start: number
  length: number | null
  covering: boolean
}

const interval: fc.Arbitrary<Interval> = fc.record({
  start: fc.integer({ min: 0, max: SPAN }),
  length: fc.option(fc.integer({ min: 0, max: SPAN })),
  covering: fc.boolean(),
})
const moment = fc.integer({ min: 0, max: SPAN })

function toStop({ start, length, covering }: Interval) {
  const recoveredAt = length === null ? null : at(start + length)
  return stopOf({ target: covering ? 'acme/live' : 'other/live', triggeredAt: at(start), recoveredAt })
}

/** An end in the future shows that the clock was set back since. */
const isPast =
  (now: number) =>
  ({ start, length }: Interval): boolean =>
    length === null || start + length <= now

/** Counts millisecond by millisecond. */
function naive(intervals: readonly Interval[], from: number, to: number): number {
  let count = 0
  for (let ms = from; ms < to; ms += 1) {
    const stopped = intervals.some(
      ({ start, length, covering }) => covering && ms >= start && (length === null || ms < start + length),
    )
    if (stopped) count += 1
  }
  return count
}

test('the stopped time is the union of the intervals, but for those that end in the future', () => {
  fc.assert(
    fc.property(fc.array(interval, { maxLength: 6 }), moment, moment, (intervals, from, to) => {
      const stops = intervals.map(toStop)
      assert.equal(stoppedMs(stops, PAY, T0 + from, T0 + to), naive(intervals.filter(isPast(to)), from, to))
    }),
    { numRuns: 1000 },
  )
})

test('what had expired stays expired: the deadline never catches up with the clock', () => {
  fc.assert(
    fc.property(fc.array(interval, { maxLength: 6 }), moment, moment, moment, (intervals, expiresIn, a, b) => {
      const [early, late] = a < b ? [a, b] : [b, a]
      const stops = intervals.filter(isPast(early)).map(toStop)
      const isExpired = (now: number): boolean => now >= expiresIn + stoppedMs(stops, PAY, T0, T0 + now)
      if (isExpired(early)) assert.ok(isExpired(late))
    }),
    { numRuns: 1000 },
  )
})
