import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { approve } from '../../src/actions/approvals/approvals.ts'
import { cancelApproval } from '../../src/actions/approvals/cancel-approval.ts'
import { followsFromChain } from '../../src/actions/approvals/follows-from-chain.ts'
import { callerOf } from '../../src/actions/deps.ts'
import { check } from '../../src/actions/gate/check.ts'
import { historyReader } from '../../src/actions/gate/history.ts'
import { loadPolicySet } from '../../src/authoring/load/load.ts'
import type { ErrorCode } from '../../src/base/errors.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Role } from '../../src/keys/roles.ts'
import type { Store } from '../../src/store/store.ts'
import { startGate, temporaryFolder } from '../helpers.ts'
import { assertDone } from '../http/support.ts'
import { POLICY, scene, T0, type TestKey } from './scenes.ts'

/** An approval is taken back before it is used: by who asked, or by who decides. */
const dir = temporaryFolder()
const main = await scene({ dir })
const { gate, agent, owner, ask, vote, reject, status } = main
const files = [{ name: 'main.yaml', bytes: Buffer.from(POLICY) }]
const { set } = loadPolicySet({ tenant: 'acme', files, lists: new Map(), ignored: [] })
const HOUR = 3_600_000
let now = T0
const clock = (): number => now
const wait = (ms: number): void => {
  now += ms
  main.wait(ms)
}
let n = 0

/** Returns the dependencies of the actions; an event, if given, happens once between deciding and committing. */
function deps(event?: () => Promise<unknown>) {
  const { store } = gate.server
  let due = event
  const commit: Store['commit'] = async (submission) => {
    const happen = due
    due = undefined
    await happen?.()
    return store.commit(submission)
  }
  return {
    store: { ...store, commit },
    clock,
    newId: idMaker(clock, randomBytes),
    policies: { get: () => set },
    history: historyReader(store),
  }
}

function callerWith({ id }: TestKey, tenant = 'acme') {
  const key = gate.server.store.state().keys.get(id)
  assert.ok(key)
  return callerOf(key, tenant)
}

const held = async (action = 'pay.one', key = agent): Promise<string> => (await ask(action, ++n, {}, key)).approvalId
const cancel = (key: TestKey, id: string, event?: () => Promise<unknown>) =>
  cancelApproval(deps(event), callerWith(key), id)
const use = (event?: () => Promise<unknown>) =>
  check(deps(event), callerWith(agent), { tenantId: 'acme', action: 'pay.one', context: { n } })

test('a pending approval is cancelled by who asked, and the same request asks anew', async () => {
  const id = await held('pay.two')
  await vote(owner, id)
  const view = await cancel(agent, id)
  assert.deepEqual([view.status, view.decidedAt], ['cancelled', new Date(now).toISOString()])
  const again = await ask('pay.two', n)
  assert.equal(again.decision, 'require_approval')
  assert.notEqual(again.approvalId, id)
  const { body } = await gate.call(owner, 'GET', `/approvals/${again.approvalId}`)
  assert.deepEqual([body.data.status, body.data.votes], ['pending', []])
  const presented = await ask('pay.two', n, { approvalId: id })
  assert.match(presented.reason, /presented approval is cancelled/)
  const { data } = (await gate.call(owner, 'GET', '/approvals?status=cancelled')).body
  assert.deepEqual(
    data.map((one: { id: string }) => one.id),
    [id],
  )
})

test('over HTTP the requester takes back its own, once, and nobody takes back what it cannot see', async () => {
  const id = await held()
  const path = `/approvals/${id}/cancel`
  const other = await gate.key({ roles: ['agent'] })
  assert.equal((await gate.call(other, 'POST', path, {})).body.error, 'not_found')
  const cancelled = await gate.call(agent, 'POST', path, {})
  assertDone(cancelled)
  assert.equal(cancelled.body.data.status, 'cancelled')
  assert.equal((await gate.call(agent, 'POST', path, {})).body.error, 'approval_not_pending')
  assert.equal((await gate.call(agent, 'POST', path, { why: 'x' })).body.error, 'invalid_request')
})

test('an approved one that was not used allows nothing any more', async () => {
  const id = await held()
  await vote(owner, id)
  await cancel(owner, id)
  const again = await ask('pay.one', n)
  assert.equal(again.decision, 'require_approval')
  assert.notEqual(again.approvalId, id)
})

test('the entry names the key, and the record follows from the chain', async () => {
  const id = await held()
  await cancel(owner, id)
  const page = { chain: 'acme/live', order: 'desc', limit: 1, offset: 0 } as const
  const [entry] = (await gate.server.store.page(page)).items
  const section = (name: string) => JSON.parse(entry?.sections.find((one) => one.name === name)?.json ?? 'null')
  assert.equal(entry?.header.type, 'approval.cancelled')
  assert.deepEqual(section('actor'), { kind: 'key', id: owner.id, identity: null, roles: ['owner'] })
  const decidedAt = new Date(now).toISOString()
  assert.deepEqual(section('data'), {
    record: 'approval',
    id,
    changes: { status: 'cancelled', decidedAt, revision: 2 },
  })
  const approval = await gate.server.store.approval(id)
  assert.ok(approval && (await followsFromChain(gate.server.store, approval)))
})

const MAY: [roles: Role[], options: object, refused: ErrorCode | undefined][] = [
  [['approver'], {}, undefined],
  [['owner'], {}, undefined],
  [['admin'], {}, undefined],
  [['agent'], {}, 'not_found'],
  [['operator', 'auditor'], {}, 'not_found'],
  [['owner'], { environment: 'test' }, 'not_found'],
  [['owner'], { tenant: 'other' }, 'not_found'],
]

for (const [roles, options, refused] of MAY) {
  test(`cancelling by another key: ${roles.join()} ${JSON.stringify(options)}: ${refused ?? 'done'}`, async () => {
    const id = await held()
    const key = await gate.key({ roles, ...options })
    const cancelled = cancelApproval(deps(), callerWith(key, key.tenant), id)
    if (refused === undefined) assert.equal((await cancelled).status, 'cancelled')
    else await assert.rejects(cancelled, { code: refused })
    assert.equal(await status(id), refused === undefined ? 'cancelled' : 'pending')
  })
}

test('another key of who asked may cancel', async () => {
  const [one, two] = await Promise.all([1, 2].map(() => gate.key({ roles: ['agent'], identity: 'bot' })))
  assert.ok(one && two)
  assert.equal((await cancel(two, await held('pay.one', one))).status, 'cancelled')
})

const CLOSED: [status: string, code: ErrorCode, close: (id: string) => Promise<unknown>][] = [
  ['rejected', 'approval_not_pending', (id) => reject(owner, id)],
  ['consumed', 'approval_not_pending', (id) => vote(owner, id).then(() => ask('pay.one', n))],
  ['cancelled', 'approval_not_pending', (id) => cancel(owner, id)],
  ['expired', 'approval_expired', async () => wait(HOUR)],
]

for (const [closed, code, close] of CLOSED) {
  test(`what is ${closed} is not cancelled`, async () => {
    const id = await held()
    await close(id)
    await assert.rejects(cancel(agent, id), { code })
    assert.equal(await status(id), closed)
    if (closed === 'rejected') assert.equal((await ask('pay.one', n)).decision, 'deny')
  })
}

test('what a stop has cancelled already is not cancelled again', async () => {
  const id = await held()
  await vote(owner, id)
  await main.stop()
  await assert.rejects(cancel(agent, id), { code: 'approval_not_pending' })
  await main.recover()
  now += 1
})

test('a use that commits first wins: there is nothing left to cancel', async () => {
  const id = await held()
  await vote(owner, id)
  const used: string[] = []
  const cancelled = cancel(agent, id, async () => used.push((await use()).decision))
  await assert.rejects(cancelled, { code: 'approval_not_pending' })
  assert.deepEqual([used, await status(id)], [['allow'], 'consumed'])
})

test('a cancellation that commits first wins: the use waits for a new approval', async () => {
  const id = await held()
  await vote(owner, id)
  const answer = await use(() => cancel(agent, id))
  assert.equal(answer.decision, 'require_approval')
  assert.notEqual(answer.approvalId, id)
  assert.deepEqual([await status(id), await status(answer.approvalId ?? '')], ['cancelled', 'pending'])
})

test('a vote against a cancellation: who commits second sees what the first has done', async () => {
  const id = await held()
  const voted = () => approve(deps(), callerWith(owner), id, { approverId: 'x' })
  assert.equal((await cancel(agent, id, voted)).status, 'cancelled')
  const other = await held()
  const late = approve(
    deps(() => cancel(agent, other)),
    callerWith(owner),
    other,
    { approverId: 'x' },
  )
  await assert.rejects(late, { code: 'approval_not_pending' })
})

test('a key that is revoked meanwhile cancels nothing', async () => {
  const id = await held()
  const key = await gate.key({ roles: ['approver'] })
  const revoke = async () => assertDone(await gate.call(owner, 'DELETE', `/keys/${key.id}`))
  await assert.rejects(cancel(key, id, revoke), { code: 'unauthenticated' })
  assert.equal(await status(id), 'pending')
})

test('a start accepts it: the record follows from the chain', async () => {
  const id = await held()
  await cancel(agent, id)
  await gate.server.close()
  const again = await startGate({ after }, { clock, dir, policies: { 'acme/main.yaml': POLICY } })
  assert.equal((await again.call(owner, 'GET', `/approvals/${id}`)).body.data.status, 'cancelled')
})
