import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Bucket, DEFAULT_PLAN, isPlan, leftIn, PLANS, STATUS_LIMIT, take } from '../../src/keys/plan.ts'

/** Takes at each time; gives which were allowed. */
function run(limit: number, timesMs: readonly number[]): boolean[] {
  let bucket: Bucket | undefined
  return timesMs.map((nowMs) => {
    const taken = take(bucket, limit, nowMs)
    bucket = taken.bucket
    return taken.allowed
  })
}

const limits = fc.constantFrom(1, 7, PLANS.free, PLANS.pro)
const gaps = fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 1, maxLength: 400 })
const timesOf = (steps: readonly number[]): number[] => {
  let now = 0
  return steps.map((step) => {
    now += step
    return now
  })
}

test('the plans are those of the spec', () => {
  assert.deepEqual({ ...PLANS }, { free: 60, pro: 600, enterprise: Number.POSITIVE_INFINITY })
  assert.equal(DEFAULT_PLAN, 'enterprise')
  assert.equal(STATUS_LIMIT, 600)
})

for (const [text, known] of [
  ['free', true],
  ['Free', false],
  ['', false],
  ['toString', false],
  ['__proto__', false],
] as const) {
  test(`isPlan(${JSON.stringify(text)}) is ${known}`, () => assert.equal(isPlan(text), known))
}

test('no window of t seconds has more than limit + limit·t/60 requests allowed', () => {
  fc.assert(
    fc.property(limits, gaps, (limit, steps) => {
      const times = timesOf(steps)
      const allowed = times.filter((_, i) => run(limit, times)[i])
      for (const [i, from] of allowed.entries()) {
        const last = allowed.at(-1) ?? from
        const most = limit + (limit * (last - from)) / 60_000
        assert.ok(allowed.length - i <= most + 1e-6, `${allowed.length - i} in ${last - from} ms, at most ${most}`)
      }
    }),
    { numRuns: 40 },
  )
})

test('who stays below the rate is never refused', () => {
  fc.assert(
    fc.property(limits, fc.integer({ min: 1, max: 300 }), (limit, requests) => {
      const times = Array.from({ length: requests }, (_, i) => Math.ceil((i * 60_000) / limit))
      assert.ok(run(limit, times).every(Boolean))
    }),
    { numRuns: 40 },
  )
})

test('a full bucket gives exactly its limit at once', () => {
  const allowed = run(60, new Array(100).fill(5)).filter(Boolean).length
  assert.equal(allowed, 60)
})

test('after the told wait there is a token, and not a second before', () => {
  fc.assert(
    fc.property(limits, fc.integer({ min: 0, max: 120_000 }), (limit, startMs) => {
      let bucket: Bucket | undefined
      for (let i = 0; i < limit; i += 1) bucket = take(bucket, limit, startMs).bucket
      const { allowed, waitSeconds, remaining } = take(bucket, limit, startMs)
      assert.deepEqual({ allowed, remaining }, { allowed: false, remaining: 0 })
      assert.ok(waitSeconds >= 1)
      assert.ok(take(bucket, limit, startMs + waitSeconds * 1000 + 1).allowed)
      if (waitSeconds > 1) assert.equal(take(bucket, limit, startMs + (waitSeconds - 1) * 1000 - 1).allowed, false)
    }),
  )
})

test('who has a whole token left need not wait, who has less must', () => {
  const two = take({ tokens: 2, atMs: 0 }, 60, 0)
  assert.deepEqual([two.remaining, two.waitSeconds], [1, 0])
  const less = take({ tokens: 1.9, atMs: 0 }, 60, 0)
  assert.deepEqual([less.remaining, less.waitSeconds], [0, 1])
})

test('a refused request costs nothing', () => {
  let bucket: Bucket | undefined
  for (let i = 0; i < 60; i += 1) bucket = take(bucket, 60, 0).bucket
  for (let i = 0; i < 1000; i += 1) bucket = take(bucket, 60, 0).bucket
  assert.ok(take(bucket, 60, 1001).allowed)
})

test('a long pause fills the bucket to its limit, not beyond', () => {
  const { bucket } = take(undefined, 60, 0)
  const times = new Array(61).fill(10 * 60_000)
  let state: Bucket | undefined = bucket
  const allowed = times.filter((nowMs) => {
    const taken = take(state, 60, nowMs)
    state = taken.bucket
    return taken.allowed
  })
  assert.equal(allowed.length, 60)
})

test('what is left is what can be taken at that moment, and to ask takes nothing', () => {
  fc.assert(
    fc.property(limits, gaps, (limit, steps) => {
      let bucket: Bucket | undefined
      for (const nowMs of timesOf(steps)) {
        const left = leftIn(bucket, limit, nowMs)
        assert.equal(leftIn(bucket, limit, nowMs), left)
        const taken = take(bucket, limit, nowMs)
        assert.deepEqual([taken.allowed, taken.remaining], [left > 0, Math.max(0, left - 1)])
        bucket = taken.bucket
      }
    }),
    { numRuns: 40 },
  )
})
