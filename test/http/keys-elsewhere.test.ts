import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { createKey, revokeKey } from '../../src/actions/keys/keys.ts'
import { rotateKey } from '../../src/actions/keys/rotate.ts'
import { ensureTenant } from '../../src/actions/keys/tenants.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Role } from '../../src/keys/roles.ts'
import { openBeside, startGate } from '../helpers.ts'
import { assertDone, assertRefused } from './support.ts'

/* What another process commits about keys, such as the command line, counts from its commit. */

const HOST = { actor: { kind: 'host', id: 'host:0' }, caller: undefined } as const
const gate = await startGate({ after })
await gate.key()
const store = await openBeside(gate.dir)
after(() => store.close())
const elsewhere = { store, clock: Date.now, newId: idMaker(Date.now, randomBytes) }

async function made(roles: Role[], tenant = 'acme') {
  const { id, key: secret } = await createKey(elsewhere, HOST, tenant, { roles })
  return { id, secret, tenant }
}

const MAIL = { tenantId: 'acme', action: 'email.send' }
const ASKED: readonly (readonly [
  what: string,
  role: Role,
  method: string,
  path: string,
  body?: object,
  headers?: object,
])[] = [
  ['check', 'agent', 'POST', '/gate/check', MAIL],
  ['check with an Idempotency-Key', 'agent', 'POST', '/gate/check', MAIL, { 'idempotency-key': 'a' }],
  ['question of a facade', 'agent', 'POST', '/v1/data/gate/allow', { input: { tool: { name: 'email.send' } } }],
  ['reading', 'auditor', 'GET', '/audit/chain'],
  ['reading of usage', 'owner', 'GET', '/usage'],
  [
    'stop',
    'operator',
    'POST',
    '/killswitch/trigger',
    { tenantId: 'acme', level: 'L1', scope: 'nothing', reason: 'drill', triggeredBy: 'op' },
  ],
]

for (const [what, role, method, path, body, headers = {}] of ASKED) {
  const ask = (key: { secret: string; tenant: string }) => gate.call(key, method, path, body, { ...headers })

  test(`a key that was made elsewhere counts at once: ${what}`, async () => {
    for (let i = 0; i < 5; i += 1) {
      const answer = await ask(await made([role]))
      assert.notEqual(answer.status, 401, JSON.stringify(answer.body))
    }
  })

  test(`a key that was rotated elsewhere is the new one at once: ${what}`, async () => {
    const old = await made([role])
    await ask(old)
    const { key } = await rotateKey(elsewhere, HOST, old.id, 0)
    assert.equal((await ask(old)).status, 401)
    assert.notEqual((await ask({ ...old, secret: key })).status, 401)
  })

  test(`a key that was revoked elsewhere is refused at once: ${what}`, async () => {
    for (let i = 0; i < 5; i += 1) {
      const key = await made([role])
      assert.notEqual((await ask(key)).status, 401)
      await revokeKey(elsewhere, HOST, key.id)
      assert.equal((await ask(key)).status, 401)
    }
  })
}

test('a tenant that was made elsewhere with its key is there at once', async () => {
  await ensureTenant(elsewhere, HOST.actor, 'globex')
  assertDone(await gate.call(await made(['owner'], 'globex'), 'GET', '/usage'))
})

test('a wait ends once its key was revoked elsewhere', async () => {
  const key = await made(['agent'])
  const held = { ...MAIL, action: 'payment.transfer', context: { amount: 5000 } }
  const { body } = await gate.call(key, 'POST', '/gate/check', held)
  const waiting = gate.call(key, 'GET', `/approvals/${body.data.approvalId}?wait=30`)
  await revokeKey(elsewhere, HOST, key.id)
  assertRefused(await waiting, 'unauthenticated')
})
