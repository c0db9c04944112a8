import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { hashSecret, isSecret } from '../../src/keys/secret.ts'
import { type Answer, startGate } from '../helpers.ts'
import { assertDone, assertRefused, entries, entriesOf } from './support.ts'

const gate = await startGate({ after })
const owner = await gate.key()
const sandbox = await gate.key({ environment: 'test' })
const admin = await gate.key({ roles: ['admin'] })
await gate.key({ tenant: 'other', roles: ['agent'] })

const make = (by: typeof owner, body: object): Promise<Answer> => gate.call(by, 'POST', '/keys', body)
const MAIL = { tenantId: 'acme', action: 'email.send' }

test('a secret is shown once, works, and is nowhere else', async () => {
  const answer = await make(owner, { roles: ['agent', 'agent'], name: 'bot', identity: 'bot-1', groups: ['g'] })
  assertDone(answer)
  const { key: secret, ...shown } = answer.body.data
  assert.ok(isSecret(secret) && secret.startsWith('sk_live_'))
  assert.deepEqual(shown.roles, ['agent'])
  assert.equal(shown.createdBy, owner.id)
  assertDone(await gate.call({ secret, tenant: 'acme' }, 'POST', '/gate/check', MAIL))

  const listed = await gate.call(owner, 'GET', '/keys')
  const found = listed.body.data.find(({ id }: { id: string }) => id === shown.id)
  const { lastUsedAt, ...others } = found
  assert.deepEqual(others, shown)
  assert.match(lastUsedAt, /Z$/)
  const chain = await gate.call(owner, 'GET', '/audit/chain?eventType=key.created&limit=500')
  assert.ok(chain.body.data.some(({ data }: Answer['body']) => data.id === shown.id))
  for (const text of [JSON.stringify(listed.body), JSON.stringify(chain.body)])
    assert.doesNotMatch(text, /sk_live_|sk_test_/)
  assert.doesNotMatch(JSON.stringify(listed.body), new RegExp(`hash|${hashSecret(secret)}`))
})

test('an identity cannot be the id of a key, which would act as that key in approvals', async () => {
  assertRefused(await make(owner, { roles: ['agent'], identity: owner.id }), 'invalid_request')
})

test('a list has the keys of the tenant, and no others', async () => {
  const { data } = (await gate.call(owner, 'GET', '/keys')).body
  assert.ok(data.length >= 2)
  assert.deepEqual([...new Set(data.map(({ tenantId }: Answer['body']) => tenantId))], ['acme'])
  const tests = (await gate.call(sandbox, 'GET', '/keys')).body.data
  assert.deepEqual([...new Set(tests.map(({ environment }: Answer['body']) => environment))], ['test'])
})

test('a revoked key is refused from the next request on', async () => {
  const made = (await make(owner, { roles: ['agent'] })).body.data
  const key = { secret: made.key, tenant: 'acme' }
  assertDone(await gate.call(key, 'POST', '/gate/check', MAIL))
  const revoked = await gate.call(owner, 'DELETE', `/keys/${made.id}`)
  assertDone(revoked)
  assert.ok(revoked.body.data.revokedAt)
  assertRefused(await gate.call(key, 'POST', '/gate/check', MAIL), 'unauthenticated')

  const before = await entries(gate)
  const again = await gate.call(owner, 'DELETE', `/keys/${made.id}`)
  assert.equal(again.body.data.revokedAt, revoked.body.data.revokedAt)
  assert.equal(await entries(gate), before)
})

test('an expired key is refused', async (t) => {
  let now = Date.now()
  const clocked = await startGate(t, { clock: () => now })
  const maker = await clocked.key()
  const expiresAt = new Date(now + 60_000).toISOString()
  const made = (await clocked.call(maker, 'POST', '/keys', { roles: ['agent'], expiresAt })).body.data
  const key = { secret: made.key, tenant: 'acme' }
  assertDone(await clocked.call(key, 'GET', '/killswitch/status'))
  now += 60_000
  assertRefused(await clocked.call(key, 'GET', '/killswitch/status'), 'unauthenticated')
})

test('a key ends at a time to come, of which the present is none', async (t) => {
  const now = Date.parse('2026-03-01T10:00:00.000Z')
  const clocked = await startGate(t, { clock: () => now })
  const maker = await clocked.key()
  const ending = (ms: number) => ({ roles: ['agent'], expiresAt: new Date(now + ms).toISOString() })
  assertRefused(await clocked.call(maker, 'POST', '/keys', ending(0)), 'invalid_request')
  assertDone(await clocked.call(maker, 'POST', '/keys', ending(1)))
})

for (const [given, stored] of [
  ['2099-12-31T23:59:59Z', '2099-12-31T23:59:59.000Z'],
  ['2099-06-01T00:00:00.123456+02:00', '2099-05-31T22:00:00.123Z'],
  ['9999-12-31T23:59:59-11:30', '9999-12-31T23:59:59.999Z'],
]) {
  test(`a key ends at ${given}, as a client of the document may write it`, async () => {
    const made = await make(owner, { roles: ['agent'], expiresAt: given })
    assertDone(made)
    assert.equal(made.body.data.expiresAt, stored)
  })
}

test('a revoked key stops waiting', async () => {
  const made = (await make(owner, { roles: ['approver'] })).body.data
  const held = await gate.call(owner, 'POST', '/gate/check', {
    ...MAIL,
    action: 'payment.transfer',
    context: { amount: 2000 },
  })
  const waiting = gate.call(
    { secret: made.key, tenant: 'acme' },
    'GET',
    `/approvals/${held.body.data.approvalId}?wait=20`,
  )
  await gate.call(owner, 'DELETE', `/keys/${made.id}`)
  assertRefused(await waiting, 'unauthenticated')
})

const MAKING: [name: string, by: typeof owner, body: object, refused: 'forbidden' | 'invalid_request' | undefined][] = [
  ['an owner makes an owner', owner, { roles: ['owner'] }, undefined],
  ['an owner makes a test key', owner, { roles: ['agent'], environment: 'test' }, undefined],
  ['an owner makes no admin', owner, { roles: ['admin'] }, 'forbidden'],
  ['an owner hides no admin among roles', owner, { roles: ['agent', 'admin'] }, 'forbidden'],
  ['an admin makes no admin over HTTP', admin, { roles: ['admin'] }, 'forbidden'],
  ['an admin makes an owner in the tenant it names', admin, { roles: ['owner'] }, undefined],
  ['nobody makes a test admin', admin, { roles: ['admin'], environment: 'test' }, 'invalid_request'],
  ['a test key makes a test key', sandbox, { roles: ['agent'], environment: 'test' }, undefined],
  ['a test key makes no live key', sandbox, { roles: ['agent'], environment: 'live' }, 'forbidden'],
]

for (const [name, by, body, refused] of MAKING) {
  test(name, async () => {
    const answer = await make(by, body)
    if (refused === undefined) assertDone(answer)
    else assertRefused(answer, refused)
  })
}

test('what a test key makes without saying is a test key', async () => {
  const { data } = (await make(sandbox, { roles: ['agent'] })).body
  assert.equal(data.environment, 'test')
  assert.match(data.key, /^sk_test_/)
})

test('a test key reaches no live key, a live one both', async () => {
  const live = (await make(owner, { roles: ['agent'] })).body.data
  assertRefused(await gate.call(sandbox, 'DELETE', `/keys/${live.id}`), 'forbidden')
  assertDone(await gate.call(owner, 'DELETE', `/keys/${live.id}`))
  const practice = (await make(sandbox, { roles: ['agent'] })).body.data
  assertDone(await gate.call(owner, 'DELETE', `/keys/${practice.id}`))
})

test('an admin acts in the tenant that it names, which must exist', async () => {
  const named = (tenant: string) => gate.call({ ...admin, tenant }, 'GET', '/audit/chain')
  for (const tenant of ['acme', 'other']) assertDone(await named(tenant))
  for (const tenant of ['nowhere', '_system', 'ACME', '__proto__', 'acme/live'])
    assertRefused(await named(tenant), 'not_found', tenant)
})

test('an admin key is neither listed nor revoked by a tenant', async () => {
  const { data } = (await gate.call(owner, 'GET', '/keys')).body
  assert.equal(
    data.some(({ id }: { id: string }) => id === admin.id),
    false,
  )
  assertRefused(await gate.call(owner, 'DELETE', `/keys/${admin.id}`), 'not_found')
})

test('only an admin uses L4, and what it does is in the system chain', async () => {
  const l4 = { level: 'L4', reason: 'drill', triggeredBy: 'x' }
  const recover = { recoveredBy: 'x', comment: 'x' }
  assertRefused(await gate.call(owner, 'POST', '/killswitch/trigger', l4), 'forbidden')
  assertDone(await gate.call(admin, 'POST', '/killswitch/trigger', l4))
  assertRefused(await gate.call(owner, 'POST', '/killswitch/recover', recover), 'forbidden')
  assertDone(await gate.call(admin, 'POST', '/killswitch/recover', recover))
  assert.equal(await entriesOf(gate, 'killswitch.triggered', '_system'), 1)
  assert.equal(await entriesOf(gate, 'killswitch.triggered'), 0)
})
