import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { redact } from '../../src/actions/audit/redact.ts'
import { idMaker } from '../../src/base/id.ts'
import { HISTORIES } from '../../src/replay/decide.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { startGate } from '../helpers.ts'
import { assertDone } from '../http/support.ts'
import { begin, live, policies } from './day.ts'
import { changesIn, DAY_POLICY, dayDraft, replayed } from './support.ts'

const HOST = { kind: 'host', id: 'host:0' } as const
test('the unchanged set changes nothing, over histories, sessions, approvals, stops and a clock set back', async (t) => {
  const day = await begin(t)
  await live(day)
  // The trail stays ahead of the clock.
  day.clock.move(-30 * 60_000)
  for (const key of day.agents)
    assertDone(
      await day.gate.call(key, 'POST', '/gate/check', {
        tenantId: 'acme',
        action: 'transfer.bank',
        context: { amount: 1 },
      }),
    )
  for (const history of HISTORIES) {
    const report = await replayed(day.gate.server.store, dayDraft(), { history })
    assert.deepEqual([changesIn(report), report.kinds, report.unevaluable.facts], [{}, [], []], history)
    assert.deepEqual([report.scores.higher, report.scores.lower], [0, 0])
    assert.deepEqual([report.stopped, report.unknown, report.assumed], [1, { erased: 0, pruned: 0 }, 0])
    assert.equal(report.decided, 23)
  }
})

test('after a restart and an erasure, the rest changes nothing, and what is gone is counted as unknown', async (t) => {
  const day = await begin(t)
  await live(day)
  const { store } = day.gate.server
  const end = await lengthOf(store, 'acme/live')
  const deps = { store, clock: day.clock.clock, newId: idMaker(Date.now, randomBytes) }
  await redact(deps, HOST, {
    chain: 'acme/live',
    first: 0,
    end: Math.floor(end / 2),
    reason: 'Asked.',
  })
  await day.gate.server.close()
  const again = await startGate(t, { policies, clock: day.clock.clock, dir: day.gate.dir })
  for (const history of HISTORIES) {
    const report = await replayed(again.server.store, dayDraft(), { history })
    assert.deepEqual([changesIn(report), report.kinds], [{}, []], history)
    assert.ok(report.unknown.erased > 0, JSON.stringify(report.unknown))
    assert.equal(report.decided + report.unknown.erased, 21)
  }
})

/** Asks in a service of its own, one minute after the other. */
async function asked(
  t: Parameters<typeof begin>[0],
  text: string,
  requests: readonly [action: string, context: object][],
) {
  const day = await begin(t, undefined, text)
  for (const [action, context] of requests) {
    day.clock.move(60_000)
    const [ann] = day.agents
    assert.ok(ann)
    assertDone(await day.gate.call(ann, 'POST', '/gate/check', { tenantId: 'acme', action, context }))
  }
  return day
}

test('a request is unknown whose sum counts an erased one', async (t) => {
  const transfer = ['transfer.bank', { amount: 5 }] as const
  const { gate, clock } = await asked(t, DAY_POLICY, [[...transfer], [...transfer], ['mail.read', {}]])
  const { store } = gate.server
  const { changes, unknown, decided } = await replayed(store, dayDraft())
  assert.deepEqual([changes, unknown.erased, decided], [[], 0, 3])
  const deps = { store, clock: clock.clock, newId: idMaker(Date.now, randomBytes) }
  const [lane = ''] = (await store.lanes('acme/live')).slice(-1)
  const { items } = await store.page({ chain: lane, order: 'asc', limit: 1, offset: 0, eventType: 'gate.decision' })
  const first = items[0]?.header.seq ?? 0
  await redact(deps, HOST, { chain: lane, first, end: first + 1, reason: 'Asked.' })
  const again = await replayed(store, dayDraft())
  assert.deepEqual([again.changes, again.unknown.erased, again.decided], [[], 2, 1])
})

test('where policies are only observed, what they decide is compared', async (t) => {
  const { gate } = await asked(t, `mode: observe\n${DAY_POLICY}`, [
    ['secret.read', { session: 's' }],
    ['mail.send', { session: 's' }],
  ])
  const { store } = gate.server
  const same = await replayed(store, dayDraft())
  assert.deepEqual(
    same.matrix.map(({ from, to, count }) => [from, to, count]),
    [
      ['allow', 'allow', 1],
      ['deny', 'deny', 1],
    ],
  )
  assert.deepEqual(
    changesIn(await replayed(store, dayDraft(['effect: deny, reason: A secret', 'effect: allow, reason: A secret']))),
    {
      'deny->allow': 1,
    },
  )
})

test('a session is known from its beginning, however long before the range it lies', async (t) => {
  const day = await asked(t, DAY_POLICY, [['secret.read', { session: 's' }]])
  day.clock.move(5 * 3_600_000)
  const fromMs = day.clock.clock()
  const [ann] = day.agents
  assert.ok(ann)
  const mail = { tenantId: 'acme', action: 'mail.send', context: { session: 's' } }
  assert.equal((await day.gate.call(ann, 'POST', '/gate/check', mail)).body.data.rule, 'leak')
  const { kinds, decided } = await replayed(day.gate.server.store, dayDraft(), { fromMs })
  assert.deepEqual([kinds, decided], [[], 1])
})
