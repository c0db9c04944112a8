import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { historyFrom } from '../../src/gate/history.ts'
import type { Recorded } from '../../src/replay/recorded.ts'
import { type HistoryUntil, takenActions } from '../../src/replay/taken.ts'
import { setOf } from '../authoring/sources.ts'
import { factsOverTime } from '../gate/facts-over-time.ts'

const SET = setOf(`
session: {fact: context.session, taken: {read: ["read.*"]}}
facts: {context.session: {type: string}, context.amount: {type: number}}
history:
  count:
    agent: {actions: ["pay.*"], within: 1h, by: agent}
    tenant: {actions: ["**"], within: 2h, by: tenant}
    session: {actions: ["pay.*"], within: 30m, by: session}
  sum:
    amount: {actions: ["pay.*"], fact: context.amount, within: 1h, by: agent}
rules:
  - id: all
    actions: ["**"]
    effect: deny
    reason: R.
    when:
      any:
        - {fact: history.count.agent, operator: greaterThan, value: 9}
        - {fact: history.count.tenant, operator: greaterThan, value: 9}
        - {fact: history.count.session, operator: greaterThan, value: 9}
        - {fact: history.sum.amount, operator: greaterThan, value: 9}
        - {fact: session.actions, operator: contains, value: x}
        - {fact: session.taken.read, operator: equal, value: true}
`)

const START = Date.UTC(2026, 0, 5)
const FIRST = 'acme/live'

const request = fc.record({
  afterMin: fc.integer({ min: 0, max: 45 }),
  action: fc.constantFrom('pay.out', 'pay.back', 'read.mail'),
  agent: fc.constantFrom('a', 'b'),
  session: fc.constantFrom(undefined, 's', 't'),
  amount: fc.constantFrom(undefined, 0.1, 0.2, 3),
  lane: fc.constantFrom(0, 1),
})

/** Requests of a trail with one lane, in its order: times and seqs rise within each chain. */
function trailOf(asked: readonly (typeof request extends fc.Arbitrary<infer T> ? T : never)[]): Recorded[] {
  const lengths = [0, 0]
  let tsMs = START
  return asked.map(({ afterMin, action, agent, session, amount, lane }, i): Recorded => {
    tsMs += afterMin * 60_000
    const seq = lengths[lane] ?? 0
    lengths[lane] = seq + 1
    const context = { ...(session !== undefined && { session }), ...(amount !== undefined && { amount }) }
    return {
      ...{ id: String(i), chain: lane === 0 ? FIRST : `${FIRST}~${lane}`, seq, tsMs, action, agent },
      ...{ evaluatedMs: tsMs, asked: { context, plan: undefined }, session: session ?? null, historyEnd: null },
      ...{ outcome: undefined, isTaken: true, approvalId: null, approval: undefined },
    }
  })
}

/** What the trail had before the end, by the simplest reading of it. */
function before(trail: readonly Recorded[], { chain }: Recorded, { by, end }: HistoryUntil): Recorded[] {
  return trail.filter((one) => (by === 'time' ? one.tsMs < end : one.chain === chain && one.seq < end))
}

for (const by of ['seq', 'time'] as const) {
  test(`facts over time are those of the actions before the end of the history, by ${by}`, () => {
    fc.assert(
      fc.property(fc.array(request, { maxLength: 40 }), fc.nat(5), (asked, lag) => {
        const trail = trailOf(asked)
        const taken = takenActions(SET, Number.NEGATIVE_INFINITY)
        for (const one of trail) {
          const until = { by, end: by === 'seq' ? Math.max(0, one.seq - lag) : one.tsMs - lag * 60_000 }
          const { history, erased, isCut, isSessionCut } = taken.at(one, until)
          const query = { ...one, ...one.asked, nowMs: one.evaluatedMs }
          const earlier = before(trail, one, until).map((item) => ({ ...item, ...item.asked, atMs: item.tsMs }))
          const wanted = historyFrom(SET, query, earlier)
          assert.deepEqual(factsOverTime(SET, query, history), factsOverTime(SET, query, wanted))
          assert.deepEqual([erased, isCut, isSessionCut], [0, false, false])
          taken.add(one)
        }
      }),
    )
  })
}

test('an erased request counts, makes sums over it unknown, and stays in its session', () => {
  const [read, pay, last] = trailOf([
    { afterMin: 0, action: 'read.mail', agent: 'a', session: 's', amount: undefined, lane: 0 },
    { afterMin: 1, action: 'pay.out', agent: 'a', session: 's', amount: 3, lane: 0 },
    { afterMin: 1, action: 'pay.out', agent: 'a', session: 's', amount: 3, lane: 0 },
  ])
  assert.ok(read && pay && last)
  const taken = takenActions(SET, Number.NEGATIVE_INFINITY)
  taken.add({ ...read, asked: undefined })
  taken.add({ ...pay, asked: undefined })
  const { history, erased } = taken.at(last, { by: 'seq', end: 2 })
  const facts = factsOverTime(SET, { ...last, ...last.asked }, history)
  assert.deepEqual(
    [erased, facts.get('history.count.agent'), facts.get('history.sum.amount'), facts.get('session.taken.read')],
    [1, 2, undefined, true],
  )
})

test('a window, and a session, that begin before what was read are told', () => {
  const [first, last] = trailOf([
    { afterMin: 0, action: 'pay.out', agent: 'a', session: 's', amount: 3, lane: 0 },
    { afterMin: 45, action: 'pay.out', agent: 'a', session: undefined, amount: 3, lane: 0 },
  ])
  assert.ok(first && last)
  const at = (fromMs: number, one: Recorded) => takenActions(SET, fromMs).at(one, { by: 'seq', end: one.seq })
  assert.deepEqual(
    [at(START, first).isCut, at(START, first).isSessionCut, at(START, last).isSessionCut],
    [true, true, false],
  )
  const [begun] = [last.evaluatedMs - 2 * 3_600_000 + 1]
  assert.deepEqual([at(begun, last).isCut, at(begun + 1, last).isCut], [false, true])
})
