import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { rotateKey } from '../../src/actions/keys/rotate.ts'
import { idMaker } from '../../src/base/id.ts'
import { POLICY, T0 } from '../approvals/scenes.ts'
import { type Answer, type Gate, type KeyOptions, startGate, temporaryFolder } from '../helpers.ts'
import { assertDone, assertRefused } from '../http/support.ts'

/** The holder of a rotated key stays who it was: no approval is lost by it, and no rule on who may vote is escaped. */
let now = T0
const clock = (): number => now
const dir = temporaryFolder()
const policies = { 'acme/main.yaml': POLICY }
const gate = await startGate({ after }, { clock, policies, dir })
const HOST = { kind: 'host', id: 'host:0' } as const
const HOUR = 3_600_000

type Key = Awaited<ReturnType<Gate['key']>>

function rotate(id: string, overlapMs = HOUR) {
  const { store } = gate.server
  return rotateKey(
    { store, clock, newId: idMaker(clock, randomBytes) },
    { actor: HOST, caller: undefined },
    id,
    overlapMs,
  )
}

/** A key and what replaced it, both still good. */
async function pair(options: KeyOptions): Promise<{ old: Key; successor: Key }> {
  const old = await gate.key(options)
  const { id, key: secret } = await rotate(old.id)
  return { old, successor: { id, secret, tenant: old.tenant } }
}

let n = 0
const ask = async (key: Key, action = 'pay.one', at = ++n): Promise<Answer['body']> =>
  (await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action, context: { n: at } })).body.data
const approve = (key: Key, id: string, body = { approverId: 'x' }) =>
  gate.call(key, 'POST', `/approvals/${id}/approve`, body)
const works = async (key: Key): Promise<boolean> => (await gate.call(key, 'GET', '/killswitch/status')).status === 200

test('the successor has everything of the old key but id, secret and revision', async () => {
  const made = await gate.key({ roles: ['agent', 'auditor'], environment: 'test', identity: 'ann', groups: ['a', 'b'] })
  const { keys } = gate.server.store.state()
  const before = keys.get(made.id)
  const reply = await rotate(made.id)
  const [old, successor] = [made.id, reply.id].map((id) => gate.server.store.state().keys.get(id))
  assert.ok(before && old && successor)
  assert.deepEqual(successor, {
    ...before,
    id: reply.id,
    hash: successor.hash,
    createdAt: new Date(now).toISOString(),
    rotatedFrom: made.id,
  })
  assert.notEqual(successor.hash, before.hash)
  const end = { expiresAt: new Date(now + HOUR).toISOString(), replacedBy: reply.id, revision: 2 }
  assert.deepEqual(old, { ...before, ...end })
  assert.doesNotMatch(JSON.stringify(reply.replaces), /sha256:|sk_/)
})

test('both secrets work while they overlap, then the new one alone; 0 ends the old one at once', async () => {
  const { old, successor } = await pair({ roles: ['agent'] })
  assert.deepEqual([await works(old), await works(successor)], [true, true])
  now += HOUR - 1
  assert.deepEqual([await works(old), await works(successor)], [true, true])
  now += 1
  assert.deepEqual([await works(old), await works(successor)], [false, true])
  const { id, key: secret } = await rotate(successor.id, 0)
  assert.deepEqual([await works(successor), await works({ ...successor, id, secret })], [false, true])
})

test('an end of its own stands, for the old key and for the new', async () => {
  const owner = await gate.key()
  const expiresAt = new Date(now + 1000).toISOString()
  const made = await gate.call(owner, 'POST', '/keys', { roles: ['agent'], expiresAt })
  assertDone(made)
  const reply = await rotate(made.body.data.id)
  assert.deepEqual([reply.expiresAt, reply.replaces.expiresAt], [expiresAt, expiresAt])
})

test('refused: a key that is unknown, revoked, expired, or replaced already', async () => {
  const owner = await gate.key()
  const [revoked, expired, replaced] = await Promise.all([gate.key(), gate.key(), gate.key()])
  assertDone(await gate.call(owner, 'DELETE', `/keys/${revoked.id}`))
  await rotate(expired.id, 0)
  const { id: successor } = await rotate(replaced.id)
  const named: [string, RegExp][] = [
    ['key_x', /no such key/],
    [revoked.id, /revoked/],
    [replaced.id, new RegExp(`rotate its successor ${successor}`)],
  ]
  for (const [id, message] of named) await assert.rejects(rotate(id), { code: 'not_found', message })
  await assert.rejects(rotate(expired.id), { code: 'not_found' })
  const made = await gate.call(owner, 'POST', '/keys', {
    roles: ['agent'],
    expiresAt: new Date(now + 1).toISOString(),
  })
  now += 1
  await assert.rejects(rotate(made.body.data.id), { code: 'not_found', message: /expired/ })
})

test('of two rotations at once, one is made', async () => {
  const { id } = await gate.key()
  const both = await Promise.allSettled([rotate(id), rotate(id)])
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
})

test('an admin key is rotated in the chain of the service, and reaches every tenant still', async () => {
  const { successor } = await pair({ roles: ['admin'] })
  assert.ok(await works(successor))
  const page = { chain: '_system', order: 'desc', limit: 9, offset: 0 } as const
  const { items } = await gate.server.store.page(page)
  const ofKeys = items.map(({ header }) => header.type).filter((type) => type.startsWith('key.'))
  assert.deepEqual(ofKeys.slice(0, 2), ['key.created', 'key.rotated'])
})

for (const identity of [undefined, 'bot']) {
  const holder = identity === undefined ? 'a key without identity' : 'an identity'
  const options = { ...(identity !== undefined && { identity }) }

  test(`${holder}: what the old key asked for, the new one waits for, sees and uses, and the other way round`, async () => {
    const owner = await gate.key()
    const { old, successor } = await pair({ roles: ['agent'], ...options })
    for (const [asker, user] of [
      [old, successor],
      [successor, old],
    ] as const) {
      const held = await ask(asker)
      assert.equal((await ask(user, 'pay.one', n)).approvalId, held.approvalId)
      assertDone(await gate.call(user, 'GET', `/approvals/${held.approvalId}`))
      assertDone(await approve(owner, held.approvalId))
      assert.equal((await ask(user, 'pay.one', n)).decision, 'allow')
      assert.equal((await ask(asker, 'pay.one', n)).decision, 'require_approval')
    }
  })

  test(`${holder}: neither key approves what the other asked for`, async () => {
    const { old, successor } = await pair({ roles: ['agent', 'approver'], ...options })
    const body = { approverId: identity ?? 'x' }
    assertRefused(await approve(successor, (await ask(old)).approvalId, body), 'self_approval')
    assertRefused(await approve(old, (await ask(successor)).approvalId, body), 'self_approval')
  })

  test(`${holder}: both keys together are one vote`, async () => {
    const agent = await gate.key({ roles: ['agent'] })
    const { old, successor } = await pair({ roles: ['approver'], ...options })
    const body = { approverId: identity ?? 'x' }
    const { approvalId } = await ask(agent, 'pay.two')
    assertDone(await approve(old, approvalId, body))
    const second = await approve(successor, approvalId, body)
    assert.deepEqual([second.body.data.status, second.body.data.votes.length], ['pending', 1])
    assert.equal((await approve(await gate.key(), approvalId)).body.data.status, 'approved')
  })
}

test('a key that was rotated twice is still who it was', async () => {
  const { old, successor } = await pair({ roles: ['agent', 'approver'] })
  const { id, key: secret } = await rotate(successor.id)
  const third = { ...old, id, secret }
  const held = await ask(old)
  assert.equal((await ask(third, 'pay.one', n)).approvalId, held.approvalId)
  assertRefused(await approve(third, held.approvalId), 'self_approval')
})

test('a vote of the old key counts until that ends; then the holder votes again', async () => {
  const agent = await gate.key({ roles: ['agent'] })
  const voter = await gate.key({ roles: ['approver'] })
  const { approvalId } = await ask(agent, 'pay.two')
  assertDone(await approve(voter, approvalId))
  const { id, key: secret } = await rotate(voter.id, 0)
  const other = await gate.key()
  assert.equal((await approve(other, approvalId)).body.data.status, 'pending')
  assert.equal((await approve({ ...voter, id, secret }, approvalId)).body.data.status, 'approved')
})

test('a key that a rotated key made over HTTP is no second person for what replaced it', async () => {
  const maker = await gate.key()
  const made = (await gate.call(maker, 'POST', '/keys', { roles: ['approver'] })).body.data
  const child = { id: made.id, secret: made.key, tenant: 'acme' }
  const [rotatedMaker, rotatedChild] = await Promise.all([rotate(maker.id), rotate(child.id)])
  const successor = { ...maker, secret: rotatedMaker.key }
  const { approvalId } = await ask(successor)
  assertRefused(await approve(child, approvalId), 'self_approval')
  assertRefused(await approve({ ...child, secret: rotatedChild.key }, approvalId), 'self_approval')
})

test('what was rotated is there after a restart, which checks it against the chain', async () => {
  const { old, successor } = await pair({ roles: ['agent'] })
  const held = await ask(old)
  await gate.server.close()
  const again = await startGate({ after }, { clock, policies, dir })
  const body = { tenantId: 'acme', action: 'pay.one', context: { n } }
  const { data } = (await again.call(successor, 'POST', '/gate/check', body)).body
  assert.equal(data.approvalId, held.approvalId)
})
