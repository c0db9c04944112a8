import assert from 'node:assert/strict'
import { type Clock, movableClock } from '../../src/base/time.ts'
import { HEADER } from '../authoring/sources.ts'
import { type Cleanup, type Gate, startGate } from '../helpers.ts'
import { assertDone } from '../http/support.ts'
import { DAY_POLICY } from './support.ts'

const MINUTE = 60_000
const NOON = Date.UTC(2026, 0, 5, 12)
export const policies = { 'acme/main.yaml': HEADER + DAY_POLICY }

export interface Day {
  gate: Gate
  clock: ReturnType<typeof movableClock>
  agents: Awaited<ReturnType<Gate['key']>>[]
  approver: Awaited<ReturnType<Gate['key']>>
}

/** A service with two agents and an approver, at noon by default. */
export async function begin(t: Cleanup, now: Clock = () => NOON, text = DAY_POLICY): Promise<Day> {
  const clock = movableClock(now)
  const gate = await startGate(t, { policies: { 'acme/main.yaml': HEADER + text }, clock: clock.clock })
  const agents = [await gate.key({ roles: ['agent'], identity: 'ann' }), await gate.key({ roles: ['agent'] })]
  return { gate, clock, agents, approver: await gate.key({ roles: ['approver'], identity: 'eve' }) }
}

/** A day of 22 requests in 92 minutes: counters and sums that fill up, sessions, votes of both kinds, a stop, and a wrong request. */
export async function live({ gate, clock, agents, approver }: Day): Promise<void> {
  const [ann, bob] = agents
  assert.ok(ann && bob)
  const owner = await gate.key()
  let asked = 0
  const ask = async (key: typeof ann, action: string, context: object) => {
    clock.move(MINUTE)
    const answer = await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action, context })
    assertDone(answer)
    // Signed, since a service leaves little unsigned for long.
    asked += 1
    if (asked % 4 === 0) assertDone(await gate.call(owner, 'GET', `/evidence/bundle/${answer.body.data.decisionId}`))
    return answer.body.data
  }
  for (const amount of [10, 20, 30]) for (const key of [ann, bob]) await ask(key, 'transfer.bank', { amount })
  await ask(ann, 'transfer.bank', { amount: 'x' })
  for (const session of ['s', 't']) {
    await ask(ann, 'mail.send', { session, run: 'r' })
    await ask(ann, 'secret.read', { session: 's', run: 'r' })
    await ask(ann, 'mail.send', { session, run: 'r' })
    await ask(bob, 'mail.send', { session: 's', run: 'r' })
  }
  clock.move(70 * MINUTE)
  const held = await ask(ann, 'transfer.bank', { amount: 150 })
  const refused = await ask(bob, 'transfer.bank', { amount: 200 })
  assert.deepEqual([held.decision, refused.decision], ['require_approval', 'require_approval'])
  assertDone(
    await gate.call(approver, 'POST', `/approvals/${held.approvalId}/approve`, { approverId: 'eve', comment: 'Yes.' }),
  )
  assertDone(
    await gate.call(approver, 'POST', `/approvals/${refused.approvalId}/reject`, { approverId: 'eve', reason: 'No.' }),
  )
  assert.equal((await ask(ann, 'transfer.bank', { amount: 150 })).decidedBy, 'approval')
  assert.equal((await ask(bob, 'transfer.bank', { amount: 200 })).decidedBy, 'approval')
  await gate.call(await gate.key(), 'DELETE', `/keys/${approver.id}`)
  const stop = { level: 'L1', scope: 'mail.send', reason: 'Phishing.', triggeredBy: 'ann' }
  assertDone(await gate.call(owner, 'POST', '/killswitch/trigger', stop))
  assert.equal((await ask(ann, 'mail.send', {})).decidedBy, 'kill_switch')
  assertDone(await gate.call(owner, 'POST', '/killswitch/recover', { comment: 'Over.', recoveredBy: 'ann' }))
  for (const key of [ann, bob]) await ask(key, 'transfer.bank', { amount: 1 })
}
