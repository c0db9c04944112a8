import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setPlan } from '../../src/actions/keys/tenants.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Plan } from '../../src/keys/plan.ts'
import { type Answer, type Gate, startGate } from '../helpers.ts'
import { assertDone, assertRefused } from './support.ts'

type Key = Awaited<ReturnType<Gate['key']>>

const plan = async (gate: Gate, tenant: string, name: Plan): Promise<void> => {
  const deps = { store: gate.server.store, clock: Date.now, newId: idMaker(Date.now, randomBytes) }
  await setPlan(deps, { kind: 'host', id: 'host:0' }, tenant, name)
}
const usage = async (gate: Gate, key: Key): Promise<Answer['body']> => {
  const answer = await gate.call(key, 'GET', '/usage')
  assertDone(answer)
  return answer.body.data
}
const spend = async (gate: Gate, key: Key, requests: number): Promise<void> => {
  for (let i = 0; i < requests; i += 1) await gate.call(key, 'POST', '/gate/risk', { action: 'email.send' })
}

test('without a limit there is nothing to count', async (t) => {
  const gate = await startGate(t)
  const owner = await gate.key()
  await spend(gate, owner, 3)
  assert.deepEqual(await usage(gate, owner), {
    plan: 'enterprise',
    environment: 'live',
    requestsPerMinute: null,
    remaining: null,
    statusRequestsPerMinute: 600,
    keys: { active: 1, ended: 0 },
  })
})

test('what is left is what the tenant has here, and to ask takes none of it', async (t) => {
  const gate = await startGate(t)
  const [owner, agent, sandbox, other] = await Promise.all([
    gate.key(),
    gate.key({ roles: ['agent'] }),
    gate.key({ environment: 'test' }),
    gate.key({ tenant: 'other' }),
  ])
  await plan(gate, 'acme', 'free')
  const remaining = async (key: Key): Promise<number> => (await usage(gate, key)).remaining
  assert.deepEqual([await remaining(owner), await remaining(sandbox)], [60, 60])
  await spend(gate, agent, 20)
  const left = await remaining(owner)
  // A token comes back each second.
  assert.ok(left >= 40 && left < 50, `${left} left`)
  for (let i = 0; i < 20; i += 1) await remaining(owner)
  assert.ok((await remaining(owner)) >= left)
  assert.deepEqual([await remaining(sandbox), (await usage(gate, other)).remaining], [60, null])
  await spend(gate, agent, 60)
  assert.ok((await remaining(owner)) < 10)
  await plan(gate, 'acme', 'enterprise')
  assert.deepEqual([await remaining(owner), (await usage(gate, owner)).plan], [null, 'enterprise'])
})

test('keys are counted in the tenant and environment of the caller, and no others', async (t) => {
  let now = Date.now()
  const gate = await startGate(t, { clock: () => now })
  const [owner, sandbox, admin] = [
    await gate.key(),
    await gate.key({ environment: 'test' }),
    await gate.key({ roles: ['admin'] }),
  ]
  await gate.key({ tenant: 'other' })
  const revoked = await gate.key()
  assertDone(await gate.call(owner, 'DELETE', `/keys/${revoked.id}`))
  const expiresAt = new Date(now + 1000).toISOString()
  assertDone(await gate.call(owner, 'POST', '/keys', { roles: ['agent'], expiresAt }))
  assert.deepEqual((await usage(gate, owner)).keys, { active: 2, ended: 1 })
  now += 1000
  assert.deepEqual((await usage(gate, owner)).keys, { active: 1, ended: 2 })
  assert.deepEqual((await usage(gate, sandbox)).keys, { active: 1, ended: 0 })
  assert.equal((await usage(gate, sandbox)).environment, 'test')
  assert.deepEqual((await usage(gate, admin)).keys, { active: 1, ended: 2 })
  assert.deepEqual((await usage(gate, { ...admin, tenant: 'other' })).keys, { active: 1, ended: 0 })
})

test('a revoked key is told nothing', async (t) => {
  const gate = await startGate(t)
  const [owner, auditor] = [await gate.key(), await gate.key({ roles: ['auditor'] })]
  assertDone(await gate.call(auditor, 'GET', '/usage'))
  assertDone(await gate.call(owner, 'DELETE', `/keys/${auditor.id}`))
  for (const [method, path, body] of [
    ['GET', '/usage'],
    ['GET', '/killswitch/history'],
    ['POST', '/killswitch/preview', { level: 'L3' }],
  ] as const)
    assertRefused(await gate.call(auditor, method, path, body), 'unauthenticated')
})
