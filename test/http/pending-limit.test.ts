import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { callerOf } from '../../src/actions/deps.ts'
import { check } from '../../src/actions/gate/check.ts'
import { historyReader } from '../../src/actions/gate/history.ts'
import { setPlan } from '../../src/actions/keys/tenants.ts'
import { loadPolicySet } from '../../src/authoring/load/load.ts'
import { idMaker } from '../../src/base/id.ts'
import { PENDING_LIMITS } from '../../src/keys/plan.ts'
import { ACME_POLICY, startGate } from '../helpers.ts'
import { interrupted } from '../store/interrupted.ts'
import { assertDone, entriesOf } from './support.ts'

const policies = { 'acme/main.yaml': ACME_POLICY, 'pro/main.yaml': ACME_POLICY.replace('tenant: acme', 'tenant: pro') }
const gate = await startGate({ after }, { policies })
const greedy = await gate.key({ roles: ['agent'], tenant: 'pro' })
const modest = await gate.key({ roles: ['agent'], tenant: 'pro' })
const ann = await gate.key({ roles: ['approver'], identity: 'ann', tenant: 'pro' })
const deps = { store: gate.server.store, clock: Date.now, newId: idMaker(Date.now, randomBytes) }
await setPlan(deps, { kind: 'host', id: 'host:0' }, 'pro', 'pro')
const LIMIT = PENDING_LIMITS.pro

async function ask(amount: number, key = greedy) {
  const answer = await gate.call(key, 'POST', '/gate/check', {
    tenantId: 'pro',
    action: 'payment.transfer',
    context: { amount },
  })
  assertDone(answer)
  return answer.body.data
}

test('the last place that another request takes before the commit is taken', async () => {
  const { id } = await gate.key({ roles: ['agent'], tenant: 'pro' })
  const caller = callerOf(gate.server.store.state().keys.get(id) ?? assert.fail('the key was made'), 'pro')
  const { set } = loadPolicySet({
    tenant: 'pro',
    files: [{ name: 'main.yaml', bytes: Buffer.from(policies['pro/main.yaml']) }],
    lists: new Map(),
    ignored: [],
  })
  const at = { ...deps, policies: { get: () => set }, history: historyReader(deps.store) }
  const hold = (amount: number, store = deps.store) =>
    check({ ...at, store }, caller, { tenantId: 'pro', action: 'payment.transfer', context: { amount } })
  for (let i = 1; i < LIMIT; i += 1) assert.equal((await hold(2000 + i)).decision, 'require_approval')
  const last = await hold(
    7000,
    interrupted(deps.store, () => hold(8000)),
  )
  assert.equal(last.decision, 'deny')
  assert.equal(await deps.store.pendingOf('pro/live', id), LIMIT)
})

test('an agent has no more requests wait for people than its plan gives, however many it makes at once', async () => {
  const before = await entriesOf(gate, 'approval.requested', 'pro/live')
  const answers = await Promise.all(Array.from({ length: LIMIT + 30 }, (_, i) => ask(2000 + i)))
  const held = answers.filter(({ decision }) => decision === 'require_approval')
  assert.equal(held.length, LIMIT)
  assert.equal(await entriesOf(gate, 'approval.requested', 'pro/live'), before + LIMIT)
  const denied = answers.find(({ decision }) => decision === 'deny')
  assert.deepEqual([denied.decidedBy, denied.approvalId], ['approval', null])
  assert.match(
    denied.reason,
    /^Large payments need a person\. No more approvals can be requested: 100 requests of \S+ are already pending\.$/,
  )

  assert.equal((await ask(2000)).approvalId, answers[0].approvalId, 'what waits already goes on waiting')
  assert.equal((await ask(10)).decision, 'allow', 'what needs nobody is decided')
  assert.equal((await ask(2000, modest)).decision, 'require_approval', 'another agent may ask')

  await gate.call(ann, 'POST', `/approvals/${answers[0].approvalId}/reject`, { tenantId: 'pro', approverId: 'ann' })
  assert.equal((await ask(9000)).decision, 'require_approval', 'one has been decided')
  assert.equal((await ask(9001)).decision, 'deny')
})
