import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ACME_POLICY, type Answer, startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { assertDone, assertRefused, entries, entriesOf } from './support.ts'

let now = Date.parse('2026-03-01T10:00:00.000Z')
const gate = await startGate({ after }, { clock: () => now })
const owner = await gate.key()
const agent = await gate.key({ roles: ['agent'] })
const approver = await gate.key({ roles: ['approver'] })

const MAIL = { tenantId: 'acme', action: 'email.send' }
const hold = (amount: number) => ({ tenantId: 'acme', action: 'payment.transfer', context: { amount } })
const STOP = { level: 'L1', scope: 'email.send', reason: 'x', triggeredBy: 'x' }
const OVER = { recoveredBy: 'x', comment: 'x' }
let count = 0
const fresh = (): string => `value-${++count}`

const post = (key: typeof owner, path: string, body: unknown, value: string): Promise<Answer> =>
  gate.call(key, 'POST', path, body, { 'idempotency-key': value })
const check = (body: unknown, value: string, key = agent): Promise<Answer> => post(key, '/gate/check', body, value)

test('an allow is answered again for 60 s, then decided anew', async () => {
  const value = fresh()
  const first = await check(MAIL, value)
  assert.equal(first.body.data.decision, 'allow')
  now += 59_999
  const before = await entries(gate)
  const second = await check(MAIL, value)
  assert.deepEqual(second.body.data, first.body.data)
  assert.equal(await entries(gate), before)
  now += 1
  const third = await check(MAIL, value)
  assert.notEqual(third.body.data.decisionId, first.body.data.decisionId)
  assert.equal(await entries(gate), before + 1)
  assert.deepEqual((await check(MAIL, value)).body.data, third.body.data)
})

test('a deny is answered again', async () => {
  const value = fresh()
  const first = await check(hold(200_000), value)
  assert.equal(first.body.data.decision, 'deny')
  now += 300_000
  assert.deepEqual((await check(hold(200_000), value)).body.data, first.body.data)
})

test('the body is compared by what it says, not by its bytes', async () => {
  const value = fresh()
  const first = await check('{"tenantId":"acme","action":"email.send","context":{"a":1.0,"b":2}}', value)
  const second = await check('{ "context":{"b":2,"a":1},"action":"email.send","tenantId":"acme" }', value)
  assert.equal(second.body.data.decisionId, first.body.data.decisionId)
})

test('quotes around the value do not matter', async () => {
  const value = fresh()
  const first = await check(MAIL, value)
  assert.equal((await check(MAIL, `"${value}"`)).body.data.decisionId, first.body.data.decisionId)
})

test('another body is a conflict, and nothing is written', async () => {
  const value = fresh()
  await check(MAIL, value)
  const before = await entries(gate)
  assertRefused(await check({ ...MAIL, context: { more: 1 } }, value), 'idempotency_conflict')
  assert.equal(await entries(gate), before)
})

test('another key, route and environment have values of their own', async () => {
  const value = fresh()
  const first = await check(MAIL, value)
  const other = await check(MAIL, value, owner)
  assertDone(other)
  assert.notEqual(other.body.data.decisionId, first.body.data.decisionId)
  assertDone(await post(agent, '/audit/log', { eventType: 'my.note', data: {} }, value))
  const sandbox = await gate.key({ environment: 'test' })
  assert.notEqual((await check(MAIL, value, sandbox)).body.data.decisionId, first.body.data.decisionId)
})

test('values of other keys and tenants do not end one within its ten minutes', async () => {
  const value = fresh()
  const first = await check(hold(200_000), value)
  now += 600_000
  for (const key of [owner, await gate.key({ tenant: 'globex' })])
    assertDone(await check({ ...MAIL, tenantId: key.tenant }, fresh(), key))
  assert.deepEqual((await check(hold(200_000), value)).body.data, first.body.data)
})

test('another approval in the path is another request', async () => {
  const value = fresh()
  const [a, b] = [(await check(hold(2001), fresh())).body.data, (await check(hold(2002), fresh())).body.data]
  assertDone(await post(approver, `/approvals/${a.approvalId}/approve`, { approverId: 'x' }, value))
  assertRefused(
    await post(approver, `/approvals/${b.approvalId}/approve`, { approverId: 'x' }, value),
    'idempotency_conflict',
  )
})

test('a value is free again after ten minutes', async () => {
  const value = fresh()
  await check(MAIL, value)
  now += 600_001
  assertDone(await check({ ...MAIL, context: { more: 1 } }, value))
})

test('an allow is not answered again while a switch covers it', async () => {
  const value = fresh()
  const first = await check(MAIL, value)
  await gate.call(owner, 'POST', '/killswitch/trigger', STOP)
  const stopped = await check(MAIL, value)
  assert.equal(stopped.body.data.decision, 'deny')
  assert.equal(stopped.body.data.decidedBy, 'kill_switch')
  await gate.call(owner, 'POST', '/killswitch/recover', OVER)
  assert.notEqual((await check(MAIL, value)).body.data.decisionId, first.body.data.decisionId)
})

test('a hold is answered again while it is pending, and decided anew once it is not', async () => {
  const value = fresh()
  const first = await check(hold(3000), value)
  assert.equal(first.body.data.decision, 'require_approval')
  assert.deepEqual((await check(hold(3000), value)).body.data, first.body.data)
  await gate.call(approver, 'POST', `/approvals/${first.body.data.approvalId}/approve`, { approverId: 'x' })
  const allowed = await check(hold(3000), value)
  assert.equal(allowed.body.data.decision, 'allow')
  // The approval is used up; the same value still leads to the same allow.
  assert.deepEqual((await check(hold(3000), value)).body.data, allowed.body.data)
  assert.equal((await check(hold(3000), fresh())).body.data.decision, 'require_approval')
})

test('a hold is not answered again when its action has come into a domain that is stopped', async (t) => {
  const value = fresh()
  const first = await check(hold(4000), value)
  assert.equal(first.body.data.decision, 'require_approval')
  const stop = { ...STOP, level: 'L2', scope: 'communication' }
  assertDone(await gate.call(owner, 'POST', '/killswitch/trigger', stop))
  const inForce = async (text: string): Promise<void> => {
    writeFileSync(join(gate.dir, 'policies/acme/main.yaml'), text)
    assertDone(await gate.call(owner, 'POST', '/policies/reload', {}))
  }
  t.after(() => inForce(ACME_POLICY))
  await inForce(ACME_POLICY.replace('finance: ["payment.*"], communication: [', 'communication: ["payment.*", '))
  assert.equal((await check(hold(4000), value)).body.data.decidedBy, 'kill_switch')
  await gate.call(owner, 'POST', '/killswitch/recover', OVER)
})

test('many at once with one value make one decision', async () => {
  const value = fresh()
  const before = await entriesOf(gate, 'gate.decision')
  const answers = await Promise.all(Array.from({ length: 8 }, () => check(MAIL, value)))
  for (const answer of answers) assertDone(answer)
  assert.equal(new Set(answers.map(({ body }) => body.data.decisionId)).size, 1)
  assert.equal(await entriesOf(gate, 'gate.decision'), before + 1)
})

test('a log entry is written once', async () => {
  const value = fresh()
  const note = { eventType: 'my.once', data: { a: 1 } }
  const answers = await Promise.all(Array.from({ length: 4 }, () => post(agent, '/audit/log', note, value)))
  assert.equal(new Set(answers.map(({ body }) => body.data.id)).size, 1)
  assert.equal(await entriesOf(gate, 'my.once'), 1)
})

for (const [path, body, field, type] of [
  ['approve', { approverId: 'x', comment: 'y' }, 'approved', 'approval.approved'],
  ['reject', { approverId: 'x', reason: 'y' }, 'rejected', 'approval.rejected'],
] as const) {
  test(`${path} again is answered again and is one entry`, async () => {
    const before = await entriesOf(gate, type)
    // Ten at once: a repeat may read while the first is being committed, and see the approval as it is after it.
    await Promise.all(Array.from({ length: 10 }, voteAgain))
    assert.equal(await entriesOf(gate, type), before + 10)
  })

  const voteAgain = async (): Promise<void> => {
    const value = fresh()
    const { approvalId } = (await check(hold(4000 + count), fresh())).body.data
    const send = async (_: unknown, afterMs: number): Promise<Answer> => {
      await sleep(afterMs)
      return post(approver, `/approvals/${approvalId}/${path}`, body, value)
    }
    for (const answer of await Promise.all(Array.from({ length: 10 }, send))) {
      assertDone(answer)
      assert.equal(answer.body.data.status, field)
    }
  }
}

test('trigger and recover again are answered again, one entry each', async () => {
  const [one, two] = [fresh(), fresh()]
  const before = await entriesOf(gate, 'killswitch.triggered')
  const triggers = await Promise.all([1, 2, 3].map(() => post(owner, '/killswitch/trigger', STOP, one)))
  for (const answer of [...triggers, await post(owner, '/killswitch/trigger', STOP, one)]) {
    assertDone(answer)
    assert.equal(answer.body.data.active, true)
  }
  assert.equal(await entriesOf(gate, 'killswitch.triggered'), before + 1)
  const recovers = await Promise.all([1, 2, 3].map(() => post(owner, '/killswitch/recover', OVER, two)))
  for (const answer of [...recovers, await post(owner, '/killswitch/recover', OVER, two)]) {
    assertDone(answer)
    assert.equal(answer.body.data.active, false)
  }
})

test('two stops at once under one value are both in force and on disk', async () => {
  const value = fresh()
  const scopes = ['a.one', 'a.two']
  const answers = await Promise.all(
    scopes.map((scope) => post(owner, '/killswitch/trigger', { ...STOP, scope }, value)),
  )
  assert.ok(answers.every(({ status }) => status === 200 || status === 409))
  for (const [i, scope] of scopes.entries()) {
    if (answers[i]?.status === 409) continue
    assert.equal(
      (await gate.call(agent, 'POST', '/gate/check', { ...MAIL, action: scope })).body.data.decidedBy,
      'kill_switch',
    )
  }
  await until('the stop is on disk', () => gate.server.store.imposed().length === 0)
})
