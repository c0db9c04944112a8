import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { callerOf } from '../../src/actions/deps.ts'
import { revokeKey } from '../../src/actions/keys/keys.ts'
import { rotateKey } from '../../src/actions/keys/rotate.ts'
import { idMaker } from '../../src/base/id.ts'
import { isSecret } from '../../src/keys/secret.ts'
import { POLICY, T0 } from '../approvals/scenes.ts'
import { type Answer, type Gate, openBeside, startGate } from '../helpers.ts'
import { assertDone, assertRefused, entries, entriesOf } from './support.ts'

type Key = Awaited<ReturnType<Gate['key']>>

const now = T0
const gate = await startGate({ after }, { clock: () => now, policies: { 'acme/main.yaml': POLICY } })
const MINUTE = 60_000

const rotate = (by: Key, id: string, body?: object): Promise<Answer> =>
  gate.call(by, 'POST', `/keys/${id}/rotate`, body)
const works = async (key: Key): Promise<boolean> => (await gate.call(key, 'GET', '/usage')).status === 200
/** The new key that `by` has made for `old`. */
const taken = async (by: Key, old: Key, body: object = {}): Promise<Key> => {
  const answer = await rotate(by, old.id, body)
  assertDone(answer)
  return { id: answer.body.data.id, secret: answer.body.data.key, tenant: old.tenant }
}
const later = (minutes: number): string => new Date(now + minutes * MINUTE).toISOString()

test('the answer has the new secret, which is nowhere else, and the key that it replaces', async () => {
  const [owner, auditor] = [await gate.key(), await gate.key({ roles: ['auditor'], identity: 'ann', groups: ['g'] })]
  const before = await entries(gate)
  const answer = await rotate(owner, auditor.id, { tenantId: 'acme', overlapMinutes: 5 })
  assertDone(answer)
  const { key: secret, replaces, ...shown } = answer.body.data
  assert.ok(isSecret(secret))
  const { id, roles, identity, groups, rotatedFrom, rotatedBy, replacedBy } = shown
  assert.deepEqual(
    { roles, identity, groups, rotatedFrom, rotatedBy, replacedBy },
    {
      roles: ['auditor'],
      identity: 'ann',
      groups: ['g'],
      rotatedFrom: auditor.id,
      rotatedBy: owner.id,
      replacedBy: null,
    },
  )
  assert.deepEqual([replaces.id, replaces.replacedBy, replaces.expiresAt], [auditor.id, id, later(5)])
  assert.deepEqual([await works(auditor), await works({ ...auditor, secret })], [true, true])
  assert.equal(await entries(gate), before + 2)
  const texts = [await gate.call(owner, 'GET', '/keys'), await gate.call(owner, 'GET', '/audit/chain?limit=500')]
  for (const { body } of texts) assert.equal(JSON.stringify(body).includes(secret), false)
})

for (const [name, body, minutes] of [
  ['no body', undefined, 24 * 60],
  ['an empty body', {}, 24 * 60],
  ['an hour', { overlapMinutes: 60 }, 60],
  ['thirty days', { overlapMinutes: 43_200 }, 43_200],
] as const) {
  test(`the old secret still works: ${name}`, async () => {
    const [owner, old] = [await gate.key(), await gate.key({ roles: ['auditor'] })]
    const answer = await rotate(owner, old.id, body)
    assertDone(answer)
    assert.equal(answer.body.data.replaces.expiresAt, later(minutes))
    assert.equal(await works(old), true)
  })
}

test('with an overlap of 0 the old secret ends at once', async () => {
  const [owner, old] = [await gate.key(), await gate.key({ roles: ['auditor'] })]
  const successor = await taken(owner, old, { overlapMinutes: 0 })
  assert.deepEqual([await works(old), await works(successor)], [false, true])
})

for (const overlapMinutes of [-1, 43_201, 1.5, '60', null, 1e15]) {
  test(`an overlap of ${JSON.stringify(overlapMinutes)} is refused, and nothing is rotated`, async () => {
    const [owner, old] = [await gate.key(), await gate.key({ roles: ['auditor'] })]
    const before = await entries(gate)
    assertRefused(await rotate(owner, old.id, { overlapMinutes }), 'invalid_request')
    assertRefused(await rotate(owner, old.id, { overlap: 5 }), 'invalid_request')
    assert.equal(await entries(gate), before)
  })
}

test('a key rotates itself, and its successor is made by nobody else', async () => {
  const owner = await gate.key()
  const answer = await rotate(owner, owner.id, { overlapMinutes: 0 })
  assertDone(answer)
  assert.equal(answer.body.data.rotatedBy, null)
  assert.deepEqual([await works(owner), await works({ ...owner, secret: answer.body.data.key })], [false, true])
})

test('a rotation does not prolong a key', async () => {
  const owner = await gate.key()
  const made = await gate.call(owner, 'POST', '/keys', { roles: ['auditor'], expiresAt: later(10) })
  const { data } = (await rotate(owner, made.body.data.id, { overlapMinutes: 600 })).body
  assert.deepEqual([data.expiresAt, data.replaces.expiresAt], [later(10), later(10)])
})

test("a key that is another tenant's, an admin's or nobody's is not found, and keeps its secret", async () => {
  const [owner, admin, stranger] = [
    await gate.key(),
    await gate.key({ roles: ['admin'] }),
    await gate.key({ tenant: 'other' }),
  ]
  const before = [await entries(gate), await entries(gate, 'other/live'), await entries(gate, '_system')]
  for (const id of [stranger.id, admin.id, 'key_x', '__proto__', 'x'.repeat(2000)])
    assertRefused(await rotate(owner, id), 'not_found', id)
  assertRefused(await rotate(admin, admin.id), 'not_found', 'an admin key, by itself')
  assertRefused(await rotate(admin, stranger.id), 'not_found', 'of a tenant that the admin has not named')
  assert.deepEqual([await entries(gate), await entries(gate, 'other/live'), await entries(gate, '_system')], before)
  assert.deepEqual([await works(stranger), await works(admin)], [true, true])
  assertDone(await rotate({ ...admin, tenant: 'other' }, stranger.id))
})

test('a test key rotates test keys only, a live key both', async () => {
  const [owner, sandbox] = [await gate.key(), await gate.key({ environment: 'test' })]
  const [live, practice] = [
    await gate.key({ roles: ['auditor'] }),
    await gate.key({ roles: ['auditor'], environment: 'test' }),
  ]
  assertRefused(await rotate(sandbox, live.id), 'forbidden')
  assertRefused(await rotate(sandbox, owner.id), 'forbidden')
  const first = await rotate(sandbox, practice.id)
  assert.match(first.body.data.key, /^sk_test_/)
  assert.equal(first.body.data.environment, 'test')
  const second = await rotate(owner, first.body.data.id)
  assertDone(second)
  assert.match(second.body.data.key, /^sk_test_/)
  assert.equal(await entriesOf(gate, 'key.rotated', 'acme/test'), 2)
})

test('a key that has ended or been replaced is not rotated', async () => {
  const [owner, revoked, replaced, ended] = [await gate.key(), await gate.key(), await gate.key(), await gate.key()]
  assertDone(await gate.call(owner, 'DELETE', `/keys/${revoked.id}`))
  const successor = await taken(owner, replaced)
  await taken(owner, ended, { overlapMinutes: 0 })
  const before = await entries(gate)
  for (const { id } of [revoked, replaced, ended]) assertRefused(await rotate(owner, id), 'not_found')
  assert.equal(await entries(gate), before)
  assert.equal(await works(successor), true)
})

test('a key that is revoked at the same moment rotates nothing afterwards', async () => {
  const [owner, thief] = [await gate.key(), await gate.key()]
  const victims = await Promise.all(Array.from({ length: 8 }, () => gate.key({ roles: ['auditor'] })))
  const rotations = victims.map(({ id }) => rotate(thief, id))
  const revoked = await gate.call(owner, 'DELETE', `/keys/${thief.id}`)
  assertDone(revoked)
  for (const answer of await Promise.all(rotations)) if (answer.status !== 200) assertRefused(answer, 'unauthenticated')
  // Every entry by the revoked key is before the revocation in the chain.
  const { data } = (await gate.call(owner, 'GET', '/audit/chain?limit=500')).body
  const end = data.find((entry: Answer['body']) => entry.eventType === 'key.revoked' && entry.data.id === thief.id).seq
  const byThief = data.filter((entry: Answer['body']) => entry.actor?.id === thief.id)
  for (const { seq } of byThief) assert.ok(seq < end)
  assertRefused(await rotate(thief, victims[0]?.id ?? ''), 'unauthenticated')
})

test('a key that another process has revoked rotates nothing, before this one knows', async (t) => {
  const clock = (): number => now
  const [thief, victim] = [await gate.key(), await gate.key()]
  const { store } = gate.server
  const elsewhere = await openBeside(gate.dir, clock)
  t.after(() => elsewhere.close())
  const deps = { store, clock, newId: idMaker(clock, randomBytes) }
  const key = store.state().keys.get(thief.id)
  assert.ok(key)
  const caller = callerOf(key, 'acme')
  await revokeKey({ ...deps, store: elsewhere }, { actor: { kind: 'host', id: 'host:0' }, caller: undefined }, thief.id)
  await assert.rejects(rotateKey(deps, { actor: caller.actor, caller }, victim.id, 0), { code: 'unauthenticated' })
  assert.equal(await works(victim), true)
})

test('of two rotations at once, one is made', async () => {
  const [owner, old] = [await gate.key(), await gate.key({ roles: ['auditor'] })]
  const answers = await Promise.all([rotate(owner, old.id), rotate(owner, old.id)])
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404])
})

let n = 0
const ask = async (key: Key, action: string): Promise<string> => {
  const body = { tenantId: 'acme', action, context: { n: ++n } }
  return (await gate.call(key, 'POST', '/gate/check', body)).body.data.approvalId
}
const vote = (key: Key, approvalId: string, approverId = 'x'): Promise<Answer> =>
  gate.call(key, 'POST', `/approvals/${approvalId}/approve`, { approverId })

test("who has another's key rotated is no second person with it, nor with what comes after it", async () => {
  const [owner, bob] = [await gate.key(), await gate.key({ roles: ['approver'], identity: 'bob' })]
  const asBob = await taken(owner, bob)
  assertRefused(await vote(asBob, await ask(owner, 'pay.one'), 'bob'), 'self_approval')
  // The key that was taken makes and rotates no innocent ones either, and does not wash itself.
  const carl = await gate.key()
  const asCarl = await taken(owner, carl)
  const again = await taken(asCarl, asCarl)
  assertRefused(await vote(again, await ask(owner, 'pay.one')), 'self_approval')
  const dora = await gate.key({ roles: ['approver'] })
  assertRefused(await vote(await taken(again, dora), await ask(owner, 'pay.one')), 'self_approval')
  // Its holder itself still is one, with the old secret and for others' requests.
  assertDone(await vote(bob, await ask(owner, 'pay.one'), 'bob'))
  assertDone(await vote(asBob, await ask(await gate.key(), 'pay.one'), 'bob'))
})

test("two votes are not had by having another's key rotated, whichever votes first", async () => {
  const agent = await gate.key({ roles: ['agent'] })
  const [owner, bob] = [await gate.key(), await gate.key({ roles: ['approver'], identity: 'bob' })]
  const asBob = await taken(owner, bob)
  const first = await ask(agent, 'pay.two')
  assert.equal((await vote(owner, first)).body.data.status, 'pending')
  assertRefused(await vote(asBob, first, 'bob'), 'forbidden')
  const second = await ask(agent, 'pay.two')
  assert.equal((await vote(asBob, second, 'bob')).body.data.status, 'pending')
  assert.equal((await vote(owner, second)).body.data.status, 'pending')
  assert.equal((await vote(await gate.key(), second)).body.data.status, 'approved')
})
