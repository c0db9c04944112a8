import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Gate, startGate } from '../helpers.ts'
import { assertDone } from '../http/support.ts'

const T0 = Date.parse('2026-03-01T10:00:00.000Z')
const HOUR = 3_600_000
const STOP = { level: 'L3', reason: 'odd', triggeredBy: 'ann' }
const HELD = { tenantId: 'acme', action: 'payment.transfer', context: { amount: 5000 } }
const MAIL = { tenantId: 'acme', action: 'email.send' }

/** A service whose clock the test sets, with an action that a person has approved. */
async function clocked(t: TestContext) {
  let nowMs = T0
  const gate: Gate = await startGate(t, { clock: () => nowMs })
  const [agent, owner, admin] = [
    await gate.key({ roles: ['agent'], identity: 'bot' }),
    await gate.key({ identity: 'ann' }),
    await gate.key({ roles: ['admin'] }),
  ]
  const post = async (key: typeof agent, path: string, body: object, headers = {}) =>
    (await gate.call(key, 'POST', path, body, headers)).body.data
  return {
    gate,
    set: (ms: number) => {
      nowMs = T0 + ms
    },
    check: (body: object = HELD, headers = {}) => post(agent, '/gate/check', body, headers),
    async approve() {
      const { approvalId } = await post(agent, '/gate/check', HELD)
      await post(owner, `/approvals/${approvalId}/approve`, { approverId: 'ann' })
    },
    stopAndRecover: async (level: 'L3' | 'L4') => {
      const key = level === 'L4' ? admin : owner
      assertDone(await gate.call(key, 'POST', '/killswitch/trigger', { ...STOP, level }))
      assertDone(await gate.call(key, 'POST', '/killswitch/recover', { recoveredBy: 'ann', comment: 'over' }))
    },
  }
}

for (const aheadMs of [5000, 2 * HOUR, 24 * HOUR])
  for (const level of ['L3', 'L4'] as const)
    test(`a vote ${aheadMs / 1000} s ahead of the clock that ${level} follows is void: the order is that of the chain`, async (t) => {
      const { set, approve, stopAndRecover, check } = await clocked(t)
      set(aheadMs)
      await approve()
      set(0)
      await stopAndRecover(level)
      assert.notEqual((await check()).decision, 'allow')
      // Nor when the clock comes to the time of the vote again.
      set(aheadMs + 1000)
      assert.notEqual((await check()).decision, 'allow')
    })

test('a vote that follows a stop counts, though the clock was set back before it', async (t) => {
  const { set, approve, stopAndRecover, check } = await clocked(t)
  set(2 * HOUR)
  await stopAndRecover('L3')
  set(0)
  await approve()
  assert.equal((await check()).decidedBy, 'approval')
})

test('an allow that lies ahead of a clock that was set back is not repeated', async (t) => {
  const { set, check } = await clocked(t)
  const once = { 'idempotency-key': 'k' }
  set(2 * HOUR)
  const first = await check(MAIL, once)
  assert.equal(first.decision, 'allow')
  set(HOUR)
  const second = await check(MAIL, once)
  assert.notEqual(second.decisionId, first.decisionId)
})

test('an allow is not fresh again when the clock comes to its time once more', async (t) => {
  const { set, check } = await clocked(t)
  const once = { 'idempotency-key': 'k' }
  set(2 * HOUR)
  const first = await check(MAIL, once)
  set(HOUR)
  // Has the chain record the step back.
  await check(MAIL)
  set(2 * HOUR + 1000)
  assert.notEqual((await check(MAIL, once)).decisionId, first.decisionId)
})

test('after a jump of a day and back, an allow is valid for 60 s of the clock as it is', async (t) => {
  const { set, check } = await clocked(t)
  set(24 * HOUR)
  await check(MAIL)
  set(2000)
  const { timestamp, validUntil } = await check(MAIL)
  assert.deepEqual([Date.parse(timestamp) - T0, Date.parse(validUntil) - T0], [2000, 62_000])
})

test('an approval that begins in the future is none, and another one is asked for', async (t) => {
  const { set, approve, check } = await clocked(t)
  set(24 * HOUR)
  await approve()
  set(0)
  const again = await check()
  assert.equal(again.decision, 'require_approval')
  assert.ok(Date.parse(again.approvalExpiresAt) - T0 <= 24 * HOUR)
})
