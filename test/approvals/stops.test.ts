import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertDone, assertRefused, entriesOf } from '../http/support.ts'
import { until } from '../until.ts'
import { scene } from './scenes.ts'

const { gate, owner, ask, vote, reject, status, stop, recover, wait } = await scene()
const HOUR = 3_600_000
let n = 0

test('an approval expires at its deadline: it takes no vote, and the request is held anew', async () => {
  const { approvalId, approvalExpiresAt } = await ask('pay.one', ++n)
  const { expiresAt, createdAt } = (await gate.call(owner, 'GET', `/approvals/${approvalId}`)).body.data
  assert.equal(approvalExpiresAt, expiresAt)
  assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), HOUR)
  wait(HOUR - 1)
  assert.equal(await status(approvalId), 'pending')
  wait(1)
  assert.equal(await status(approvalId), 'expired')
  assertRefused(await vote(owner, approvalId), 'approval_expired')
  assertRefused(await reject(owner, approvalId), 'approval_expired')
  assert.notEqual((await ask('pay.one', n)).approvalId, approvalId)
})

test('an approved one expires too', async () => {
  const { approvalId } = await ask('pay.one', ++n)
  await vote(owner, approvalId)
  wait(HOUR)
  assert.equal(await status(approvalId), 'expired')
  assert.equal((await ask('pay.one', n)).decision, 'require_approval')
})

test('the list tells expired ones as expired before any entry says so', async () => {
  const { approvalId } = await ask('pay.one', ++n)
  wait(HOUR)
  const ids = async (of: string) =>
    (await gate.call(owner, 'GET', `/approvals?status=${of}`)).body.data.map(({ id }: { id: string }) => id)
  assert.equal((await ids('pending')).includes(approvalId), false)
  assert.equal((await ids('expired')).includes(approvalId), true)
})

test('the entry that an approval has expired is written once', async () => {
  const { approvalId } = await ask('pay.one', ++n)
  wait(HOUR)
  const written = async (): Promise<number> => {
    const { items } = await gate.server.store.page({
      chain: 'acme/live',
      order: 'desc',
      limit: 500,
      offset: 0,
      eventType: 'approval.expired',
    })
    return items.filter(({ sections }) => sections.some(({ json }) => json.includes(approvalId))).length
  }
  await until('it is written', async () => (await written()) > 0)
  await ask('pay.one', n)
  assert.equal(await written(), 1)
})

test('while stopped: no approving, rejecting yes, and time does not run', async () => {
  const [held, other] = [(await ask('pay.one', ++n)).approvalId, (await ask('pay.one', ++n)).approvalId]
  wait(HOUR - 1000)
  await stop()
  assertRefused(await vote(owner, held), 'kill_switch_active')
  assertDone(await reject(owner, other))
  wait(5 * HOUR)
  assert.equal(await status(held), 'pending')
  assertRefused(await vote(owner, held), 'kill_switch_active')
  await recover()
  wait(998)
  assert.equal(await status(held), 'pending')
  const { expiresAt } = (await gate.call(owner, 'GET', `/approvals/${held}`)).body.data
  assert.equal((await ask('pay.one', n - 1)).approvalExpiresAt, expiresAt, 'the check tells the same deadline')
  wait(1)
  assert.equal(await status(held), 'expired')
})

test('a stop of something else pauses nothing', async () => {
  const { approvalId } = await ask('pay.one', ++n)
  await stop({ level: 'L1', scope: 'email.*' })
  assertDone(await vote(owner, approvalId))
  await recover()
  assert.equal((await ask('pay.one', n)).decision, 'allow')
})

test('a trigger cancels what was approved and not used, if it covers it', async () => {
  const approved = async (action: string): Promise<string> => {
    const { approvalId } = await ask(action, ++n)
    await vote(owner, approvalId)
    return approvalId
  }
  const [covered, untouched] = [await approved('pay.one'), await approved('pay.self')]
  const pending = (await ask('pay.one', ++n)).approvalId
  const before = await entriesOf(gate, 'approval.cancelled')
  await stop({ level: 'L1', scope: 'pay.one' })
  assert.equal(await status(covered), 'cancelled')
  assert.equal(await status(untouched), 'approved')
  assert.equal(await status(pending), 'pending')
  await until('it is cancelled', async () => (await entriesOf(gate, 'approval.cancelled')) === before + 1)
  await recover()
  const again = await ask('pay.one', n - 2)
  assert.equal(again.decision, 'require_approval')
  assert.notEqual(again.approvalId, covered)
  assert.equal((await ask('pay.self', n - 1)).decision, 'allow')
  assertRefused(await vote(owner, covered), 'approval_not_pending')
})

test('what a stop holds up, or has cancelled, names the stop, whatever came after it', async () => {
  const [waiting, used] = [await ask('pay.one', ++n), await ask('pay.one', ++n)]
  const stopOf = async ({ approvalId }: { approvalId: string }) => {
    const { status, stop } = (await gate.call(owner, 'GET', `/approvals/${approvalId}`)).body.data
    return [status, stop && [stop.level, stop.scope, stop.reason]]
  }
  await vote(owner, used.approvalId)
  assert.deepEqual(await stopOf(waiting), ['pending', null])
  await stop({ level: 'L1', scope: 'email.*' })
  assert.deepEqual(await stopOf(waiting), ['pending', null])
  await recover()
  await stop({ level: 'L1', scope: 'pay.*', reason: 'drill' })
  assert.deepEqual(await stopOf(waiting), ['pending', ['L1', 'pay.*', 'drill']])
  assert.deepEqual(await stopOf(used), ['cancelled', ['L1', 'pay.*', 'drill']])
  await recover()
  await stop({ level: 'L1', scope: '**', reason: 'later' })
  await until('the entry says so', async () => (await stopOf(used))[0] === 'cancelled')
  assert.deepEqual(await stopOf(used), ['cancelled', ['L1', 'pay.*', 'drill']])
  await recover()
  assert.deepEqual(await stopOf(waiting), ['pending', null])
})

test('a trigger cancels what an earlier stop has kept alive', async () => {
  const { approvalId } = await ask('pay.one', ++n)
  wait(HOUR - 1000)
  await stop()
  wait(2 * HOUR)
  await recover()
  assertDone(await vote(owner, approvalId))
  await stop()
  assert.equal(await status(approvalId), 'cancelled')
  await recover()
  assert.equal((await ask('pay.one', n)).decision, 'require_approval')
})

test('an L2 stop covers by domain, an L4 stop everything', async () => {
  const admin = await gate.key({ roles: ['admin'] })
  for (const [key, body] of [
    [owner, { level: 'L2', scope: 'finance' }],
    [admin, { level: 'L4' }],
  ] as const) {
    const { approvalId } = await ask('pay.one', ++n)
    await vote(owner, approvalId)
    assertDone(await gate.call(key, 'POST', '/killswitch/trigger', { reason: 'x', triggeredBy: 'x', ...body }))
    assert.equal(await status(approvalId), 'cancelled', body.level)
    assertDone(await gate.call(key, 'POST', '/killswitch/recover', { recoveredBy: 'x', comment: 'x' }))
  }
})
