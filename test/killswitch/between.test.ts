import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { approve } from '../../src/actions/approvals/approvals.ts'
import { callerOf } from '../../src/actions/deps.ts'
import { check } from '../../src/actions/gate/check.ts'
import { historyReader } from '../../src/actions/gate/history.ts'
import { loadPolicySet } from '../../src/authoring/load/load.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Store } from '../../src/store/store.ts'
import { ACME_POLICY, type Gate, startGate } from '../helpers.ts'
import { assertDone } from '../http/support.ts'

/** Something happens after an action has decided and before it commits: the guards of the commit must see it. */
const gate = await startGate({ after })
const owner = await gate.key()
const files = [{ name: 'main.yaml', bytes: Buffer.from(ACME_POLICY) }]
const { set } = loadPolicySet({ tenant: 'acme', files, lists: new Map(), ignored: [] })

type Key = Awaited<ReturnType<Gate['key']>>
const newKey = (role: 'agent' | 'approver'): Promise<Key> => gate.key({ roles: [role] })

/** Returns dependencies of the actions with which `event` happens once, between deciding and committing. */
function depsWith(event: () => Promise<unknown>) {
  const { store } = gate.server
  let due = true
  const commit: Store['commit'] = async (submission) => {
    if (due) {
      due = false
      await event()
    }
    return store.commit(submission)
  }
  const policies = { get: () => set }
  return {
    store: { ...store, commit },
    clock: Date.now,
    newId: idMaker(Date.now, randomBytes),
    policies,
    history: historyReader(store),
  }
}

function callerWith({ id }: Key) {
  const key = gate.server.store.state().keys.get(id)
  if (key === undefined) throw new Error('the key is not in the store')
  return callerOf(key, 'acme')
}

const done = async (method: string, path: string, body?: object, key = owner) => {
  const answer = await gate.call(key, method, path, body)
  assertDone(answer)
  return answer.body.data
}
const stop = () => done('POST', '/killswitch/trigger', { level: 'L3', reason: 'x', triggeredBy: 'x' })
const recover = () => done('POST', '/killswitch/recover', { recoveredBy: 'x', comment: 'x' })
const revoke = ({ id }: Key) => done('DELETE', `/keys/${id}`)

const MAIL = { tenantId: 'acme', action: 'email.send' }
let n = 5000
/** A request that needs an approval, asked for by the agent. */
async function held(agent: Key): Promise<{ request: typeof MAIL; approvalId: string }> {
  const request = { ...MAIL, action: 'payment.transfer', context: { amount: ++n } }
  return { request, approvalId: (await done('POST', '/gate/check', request, agent)).approvalId }
}
const status = async (id: string): Promise<string> => (await done('GET', `/approvals/${id}`)).status

test('an allow that a trigger overtakes is a deny', async () => {
  const agent = await newKey('agent')
  const answer = await check(depsWith(stop), callerWith(agent), MAIL)
  assert.deepEqual([answer.decision, answer.decidedBy], ['deny', 'kill_switch'])
  await recover()
  assert.equal(
    (
      await check(
        depsWith(async () => undefined),
        callerWith(agent),
        MAIL,
      )
    ).decision,
    'allow',
  )
})

test('a check whose key is revoked meanwhile is refused', async () => {
  const agent = await newKey('agent')
  const deps = depsWith(() => revoke(agent))
  await assert.rejects(check(deps, callerWith(agent), MAIL), { code: 'unauthenticated' })
})

test('an approval that a trigger overtakes is refused', async () => {
  const { approvalId } = await held(await newKey('agent'))
  const voting = approve(depsWith(stop), callerWith(owner), approvalId, { approverId: 'x' })
  await assert.rejects(voting, { code: 'kill_switch_active' })
  await recover()
  assert.equal(await status(approvalId), 'pending')
})

test('a vote whose key is revoked meanwhile is refused', async () => {
  const { approvalId } = await held(await newKey('agent'))
  const approver = await newKey('approver')
  const deps = depsWith(() => revoke(approver))
  await assert.rejects(approve(deps, callerWith(approver), approvalId, { approverId: 'x' }), {
    code: 'unauthenticated',
  })
  assert.equal(await status(approvalId), 'pending')
})

test('the use of an approval that a trigger overtakes is a deny, and the approval is cancelled', async () => {
  const agent = await newKey('agent')
  const { request, approvalId } = await held(agent)
  await done('POST', `/approvals/${approvalId}/approve`, { approverId: 'x' })
  assert.equal((await check(depsWith(stop), callerWith(agent), request)).decidedBy, 'kill_switch')
  await recover()
  assert.equal(await status(approvalId), 'cancelled')
})

test('the use of an approval that another use overtakes is a hold', async () => {
  const agent = await newKey('agent')
  const { request, approvalId } = await held(agent)
  await done('POST', `/approvals/${approvalId}/approve`, { approverId: 'x' })
  const other = async () => assert.equal((await done('POST', '/gate/check', request, agent)).decision, 'allow')
  assert.equal((await check(depsWith(other), callerWith(agent), request)).decision, 'require_approval')
  assert.equal(await status(approvalId), 'consumed')
})
