import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { revokeKey } from '../../src/actions/keys/keys.ts'
import { setPlan } from '../../src/actions/keys/tenants.ts'
import { idMaker } from '../../src/base/id.ts'
import { waitMsOf } from '../../src/http/query.ts'
import { type Answer, type Gate, openBeside, startGate } from '../helpers.ts'
import { assertDone, assertRefused, entries, entriesOf, stopTime } from './support.ts'

const HOST = { kind: 'host', id: 'host:0' } as const
const newId = idMaker(Date.now, randomBytes)
const gates = await Promise.all([startGate({ after }), startGate({ after }, { direct: false })])
const [gate] = gates
const agent = await gate.key({ roles: ['agent'] })
const approver = await gate.key({ roles: ['approver'] })
const owner = await gate.key()
type Key = typeof agent

/** Stops and votes of one test would disturb another: each has actions of its own kind, by amount. */
let amount = 2000
const payment = () => {
  amount += 1
  return { tenantId: 'acme', action: 'payment.transfer', context: { amount } }
}
const check = (body: object, wait: number | string, key = agent, at: Gate = gate, headers = {}) =>
  at.call(key, 'POST', `/gate/check?wait=${wait}`, body, headers)
/** The pending approval for this amount, once there is one. */
async function pendingFor(context: { amount: number }, at: Gate = gate, key: Key = approver): Promise<string> {
  for (;;) {
    const { data } = (await at.call(key, 'GET', '/approvals')).body
    const found = data.find((item: { context: typeof context }) => item.context.amount === context.amount)
    if (found !== undefined) return found.id
    await sleep(10)
  }
}
const vote = (verb: 'approve' | 'reject', id: string, at: Gate = gate, key: Key = approver) =>
  at.call(key, 'POST', `/approvals/${id}/${verb}`, { approverId: 'ann' })
const entryCount = () => entries(gate)
/** A wait that does not end when it should takes 25 s; a busy machine may take a few for an answer. */
const AT_ONCE_MS = 15_000
const elapsed = async (work: Promise<Answer>): Promise<[Answer, number]> => {
  const begin = performance.now()
  return [await work, performance.now() - begin]
}

for (const [i, at] of gates.entries()) {
  test(`an approval answers the check that waits with allow, a rejection with deny (${i === 0 ? 'direct' : 'Express'})`, async () => {
    const keys = { agent: await at.key({ roles: ['agent'] }), approver: await at.key({ roles: ['approver'] }) }
    for (const [verb, decision] of [
      ['approve', 'allow'],
      ['reject', 'deny'],
    ] as const) {
      const body = payment()
      const waiting = check(body, 25, keys.agent, at)
      const id = await pendingFor(body.context, at, keys.approver)
      const begin = performance.now()
      assertDone(await vote(verb, id, at, keys.approver))
      const { data } = (await waiting).body
      assert.ok(performance.now() - begin < AT_ONCE_MS)
      assert.deepEqual([data.decision, data.decidedBy, data.approvalId], [decision, 'approval', id])
      const { status } = (await at.call(keys.approver, 'GET', `/approvals/${id}`)).body.data
      assert.equal(status, verb === 'approve' ? 'consumed' : 'rejected')
    }
  })
}

test('what is no hold is answered at once', async () => {
  for (const [action, decision] of [
    ['email.send', 'allow'],
    ['db.drop', 'deny'],
  ]) {
    const [answer, ms] = await elapsed(check({ tenantId: 'acme', action }, 25))
    assert.equal(answer.body.data.decision, decision)
    assert.ok(ms < AT_ONCE_MS)
  }
})

test('when the time is up the hold is answered as it is, with one decision', async () => {
  const before = await entriesOf(gate, 'approval.requested')
  const decisions = await entryCount()
  const [answer, ms] = await elapsed(check(payment(), 1))
  assert.equal(answer.body.data.decision, 'require_approval')
  assert.ok(ms >= 1000 && ms < AT_ONCE_MS, String(ms))
  assert.equal(await entriesOf(gate, 'approval.requested'), before + 1)
  assert.equal(await entryCount(), decisions + 2)
})

test('without wait, and with 0, nothing waits', async () => {
  for (const query of ['', '?wait=0']) {
    const asked = gate.call(agent, 'POST', `/gate/check${query}`, payment())
    const [answer, ms] = await elapsed(asked)
    assert.equal(answer.body.data.decision, 'require_approval')
    assert.ok(ms < AT_ONCE_MS, String(ms))
  }
})

for (const wait of ['', '-1', '1.5', '1e1', '0001', '1234567890', 'x', '5&wait=5', '5&other=1']) {
  test(`wait=${wait} is refused, and nothing is decided`, async () => {
    const before = await entryCount()
    assertRefused(await check(payment(), wait), 'invalid_request')
    assert.equal(await entryCount(), before)
  })
}

test('a longer wait is the longest', () => {
  assert.deepEqual(
    [{}, { wait: 0 }, { wait: 1 }, { wait: 25 }, { wait: 26 }, { wait: 999_999_999 }].map(waitMsOf),
    [0, 0, 1000, 25_000, 25_000, 25_000],
  )
})

test('an approval that was decided between the check and the wait is seen', async () => {
  const body = payment()
  const { store } = gate.server
  const { approval } = store
  let voted = false
  // The first look of the wait: the vote is there before it.
  store.approval = async (id) => {
    store.approval = approval
    voted = true
    assertDone(await vote('approve', id))
    return approval(id)
  }
  const [answer, ms] = await elapsed(check(body, 25))
  assert.ok(voted && ms < AT_ONCE_MS)
  assert.equal(answer.body.data.decision, 'allow')
})

test('an approval that expires is answered as the hold it was, and nobody is asked again', async (t) => {
  let now = Date.parse('2026-03-01T10:00:00.000Z')
  const timed = await startGate(t, { clock: () => now })
  const keys = { agent: await timed.key({ roles: ['agent'] }), approver: await timed.key({ roles: ['approver'] }) }
  const body = payment()
  const waiting = check(body, 25, keys.agent, timed)
  const id = await pendingFor(body.context, timed, keys.approver)
  now += 31 * 60_000
  const [answer, ms] = await elapsed(waiting)
  assert.ok(ms < AT_ONCE_MS)
  assert.deepEqual([answer.body.data.decision, answer.body.data.approvalId], ['require_approval', id])
  assert.equal(await entriesOf(timed, 'approval.requested'), 1)
})

test('a stop ends the wait with deny, and an approval does not pass it', async (t) => {
  const other = await startGate(t)
  const keys = { agent: await other.key({ roles: ['agent'] }), owner: await other.key() }
  const body = payment()
  const waiting = check(body, 25, keys.agent, other)
  const id = await pendingFor(body.context, other, keys.owner)
  const begin = performance.now()
  assertDone(
    await other.call(keys.owner, 'POST', '/killswitch/trigger', { level: 'L3', reason: 'odd', triggeredBy: 'x' }),
  )
  const { data } = (await waiting).body
  assert.ok(performance.now() - begin < AT_ONCE_MS)
  assert.deepEqual([data.decision, data.decidedBy], ['deny', 'kill_switch'])
  assertRefused(await vote('approve', id, other, keys.owner), 'kill_switch_active')
  // The time of the approval stands still meanwhile, and it can be used afterwards.
  assertDone(await other.call(keys.owner, 'POST', '/killswitch/recover', { recoveredBy: 'x', comment: 'over' }))
  const again = check(body, 25, keys.agent, other)
  await sleep(50)
  assertDone(await vote('approve', id, other, keys.owner))
  assert.equal((await again).body.data.decision, 'allow')
})

test('approvals and stops at once: no allow after a stop', async (t) => {
  const other = await startGate(t)
  const keys = { agent: await other.key({ roles: ['agent'] }), owner: await other.key() }
  for (let round = 0; round < 8; round += 1) {
    const body = payment()
    const waiting = check(body, 25, keys.agent, other)
    const id = await pendingFor(body.context, other, keys.owner)
    const stop = { level: 'L3', reason: 'odd', triggeredBy: 'x' }
    await Promise.all([
      vote('approve', id, other, keys.owner),
      other.call(keys.owner, 'POST', '/killswitch/trigger', stop),
    ])
    const { decision } = (await waiting).body.data
    const { data } = (await other.call(keys.owner, 'GET', '/audit/chain?limit=6')).body
    const types = data.map(
      (entry: { eventType: string; data: { decision?: string } }) => entry.data.decision ?? entry.eventType,
    )
    const isAfter = types.includes('allow') && types.indexOf('allow') < types.indexOf('killswitch.triggered')
    assert.ok(!isAfter, `round ${round}: ${types}`)
    if (decision === 'allow') assert.ok(types.includes('allow'))
    else assert.equal(decision, 'deny')
    await other.call(keys.owner, 'POST', '/killswitch/recover', { recoveredBy: 'x', comment: 'over' })
  }
})

for (const [how, end] of [
  ['this process', (id: string) => gate.call(owner, 'DELETE', `/keys/${id}`)],
  ['another process', revokedElsewhere],
] as const) {
  test(`a key that is revoked by ${how} ends its wait`, async () => {
    const ending = await gate.key({ roles: ['agent'] })
    const body = payment()
    const waiting = check(body, 25, ending)
    const id = await pendingFor(body.context)
    await end(ending.id)
    const [answer, ms] = await elapsed(waiting)
    assertRefused(answer, 'unauthenticated')
    assert.ok(ms < AT_ONCE_MS, String(ms))
    assertDone(await vote('approve', id))
    assert.equal((await gate.call(approver, 'GET', `/approvals/${id}`)).body.data.status, 'approved')
  })
}

async function revokedElsewhere(id: string): Promise<void> {
  const store = await openBeside(gate.dir)
  await revokeKey({ store, clock: Date.now, newId }, { actor: HOST, caller: undefined }, id)
  await store.close()
}

test('a client that has gone uses no approval', async () => {
  const body = payment()
  const text = JSON.stringify(body)
  const headers = { 'x-api-key': agent.secret, 'x-tenant-id': 'acme', 'content-type': 'application/json' }
  const sent = request(`${gate.server.url}/gate/check?wait=25`, { method: 'POST', headers, agent: false })
  sent.on('error', () => undefined).end(text)
  const id = await pendingFor(body.context)
  // Between two looks of the wait: it finds both.
  sent.destroy()
  assertDone(await vote('approve', id))
  await sleep(500)
  assert.equal((await gate.call(approver, 'GET', `/approvals/${id}`)).body.data.status, 'approved')
  assert.equal((await check(body, 0)).body.data.decision, 'allow')
})

test('with an Idempotency-Key: the allow is stored, and repeated; two at once are one use', async () => {
  const body = payment()
  const headers = { 'idempotency-key': 'wait-1' }
  const both = [check(body, 25, agent, gate, headers), check(body, 25, agent, gate, headers)]
  const id = await pendingFor(body.context)
  assertDone(await vote('approve', id))
  const [first, second] = await Promise.all(both)
  assert.equal(first?.body.data.decision, 'allow')
  assert.deepEqual(second?.body.data, first?.body.data)
  for (const wait of [0, 25]) {
    const again = await check(body, wait, agent, gate, headers)
    assert.equal(again.body.data.decisionId, first?.body.data.decisionId)
  }
  assertRefused(await check(payment(), 25, agent, gate, headers), 'idempotency_conflict')
})

test('with an Idempotency-Key: a stored hold waits on when it is repeated', async () => {
  const body = payment()
  const headers = { 'idempotency-key': 'wait-2' }
  const hold = await check(body, 0, agent, gate, headers)
  const waiting = check(body, 25, agent, gate, headers)
  await sleep(300)
  assertDone(await vote('approve', hold.body.data.approvalId))
  assert.equal((await waiting).body.data.decision, 'allow')
})

test('with an Idempotency-Key: a stop ends the wait with deny, also when the hold was stored', async (t) => {
  const other = await startGate(t)
  const keys = { agent: await other.key({ roles: ['agent'] }), owner: await other.key() }
  const body = payment()
  const headers = { 'idempotency-key': 'wait-3' }
  const waiting = check(body, 25, keys.agent, other, headers)
  await pendingFor(body.context, other, keys.owner)
  const stop = { level: 'L3', reason: 'odd', triggeredBy: 'x' }
  assertDone(await other.call(keys.owner, 'POST', '/killswitch/trigger', stop))
  const { data } = (await waiting).body
  assert.deepEqual([data.decision, data.decidedBy], ['deny', 'kill_switch'])
})

test('a check that waits counts once against the plan', async (t) => {
  stopTime(t)
  const limited = await startGate(t, { policies: { 'acme/main.yaml': POLICY } })
  const keys = { agent: await limited.key({ roles: ['agent'] }), approver: await limited.key({ roles: ['approver'] }) }
  const store = limited.server.store
  await setPlan({ store, clock: Date.now, newId }, HOST, 'acme', 'free')
  const body = payment()
  const waiting = check(body, 25, keys.agent, limited)
  assertDone(await vote('approve', await pendingFor(body.context, limited, keys.approver), limited, keys.approver))
  const { headers, body: answer } = await waiting
  assert.equal(answer.data.decision, 'allow')
  assert.match(headers.get('ratelimit') ?? '', /r=59/)
  const mail = await check(
    { tenantId: 'acme', action: 'payment.transfer', context: { amount: 1 } },
    25,
    keys.agent,
    limited,
  )
  assert.match(mail.headers.get('ratelimit') ?? '', /r=58/)
})

test('a key waits with 32 checks at most; what needs no wait is answered still', async () => {
  const many = await gate.key({ roles: ['agent'] })
  const body = payment()
  const waiting = Array.from({ length: 33 }, () => check(body, 25, many))
  // The one too many is told at once what is on record: people are asked.
  assert.equal((await Promise.race(waiting)).body.data.decision, 'require_approval')
  assert.equal((await check({ tenantId: 'acme', action: 'email.send' }, 25, many)).body.data.decision, 'allow')
  assertDone(await vote('reject', await pendingFor(body.context)))
  const answers = await Promise.all(waiting)
  assert.equal(answers.filter(({ body: { data } }) => data?.decision === 'deny').length, 32)
})

test('a service that stops answers the hold as it is, at once', async (t) => {
  const stopping = await startGate(t)
  const key = await stopping.key({ roles: ['agent'] })
  const owning = await stopping.key()
  const body = payment()
  const waiting = check(body, 25, key, stopping)
  await pendingFor(body.context, stopping, owning)
  const begin = performance.now()
  const closed = stopping.server.close()
  assert.equal((await waiting).body.data.decision, 'require_approval')
  await closed
  assert.ok(performance.now() - begin < AT_ONCE_MS)
})

const POLICY = `
apiVersion: gate-sidecar/v1
tenant: acme
rules:
  - {id: large, actions: ["payment.*"], effect: require_approval, reason: Large., when: {fact: context.amount, operator: greaterThan, value: 1000}}
  - {id: payments, actions: ["payment.*"], effect: allow, reason: Fine.}
facts: {context.amount: {type: number}}
`
