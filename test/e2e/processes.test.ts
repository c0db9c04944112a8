import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { keyInUse } from '../../src/actions/evidence/signing-keys.ts'
import { checkpointsOf } from '../evidence/signed.ts'
import { openFile, startGate, temporaryFolder } from '../helpers.ts'
import { until } from '../until.ts'
import { assertRecorded, command, folderIn, load, serve } from './processes.ts'

test('two services on one folder append at once: one line, nothing lost', async (t) => {
  const folder = folderIn(temporaryFolder())
  const key = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'agent')
  const services = await Promise.all([serve(t, folder), serve(t, folder)])
  const loads = services.map(({ url }) => load(url, key, 8))
  // Neither keeps the other from its turn, however little of the machine both get.
  await until('decisions are made', async () => loads.every(({ acknowledged }) => acknowledged.length > 20))
  await Promise.all(loads.map((running) => running.stop()))
  await Promise.all(services.map((service) => service.end('SIGTERM')))
  for (const { refused } of loads) assert.deepEqual(refused, [])
  await assertRecorded(
    folder.data,
    loads.flatMap(({ acknowledged }) => acknowledged),
  )
})

test('processes that start at once on a new folder are one instance', async (t) => {
  const folder = folderIn(temporaryFolder())
  const make = (tenant: string) => command(folder, 'keys', 'create', '--tenant', tenant, '--role', 'owner')
  const [key] = await Promise.all([make('acme'), make('other'), serve(t, folder)])
  await serve(t, folder)
  const store = openFile(folder.data)
  t.after(() => store.close())
  const { keys, signingKeys, tenants } = store.state()
  assert.deepEqual([keys.size, signingKeys.size, [...tenants.keys()].sort()], [2, 1, ['acme', 'other']])
  assert.ok(keys.has(key.id))
  await assertRecorded(folder.data, [])
})

test('a key that the command line makes or revokes acts in a running service, by itself', async (t) => {
  const gate = await startGate(t)
  await gate.key()
  const folder = { data: join(gate.dir, 'data'), policies: join(gate.dir, 'policies') }
  const made = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'agent')
  const key = { secret: made.key, tenant: 'acme' }
  const status = async () =>
    (await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })).status
  await until('it is taken in', async () => (await status()) === 200)
  await command(folder, 'keys', 'revoke', made.id)
  await until('it is taken in', async () => (await status()) === 401)
})

test('a stop that the command line triggers or ends acts in a running service, by itself', async (t) => {
  const gate = await startGate(t)
  const key = await gate.key()
  const folder = { data: join(gate.dir, 'data'), policies: join(gate.dir, 'policies') }
  const option = ['--tenant', 'acme', '--policies', folder.policies]
  const decision = async () =>
    (await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })).body.data.decision
  assert.equal(await decision(), 'allow')
  await command(folder, 'killswitch', 'trigger', ...option, '--level', 'L3', '--reason', 'odd mail')
  assert.equal(await decision(), 'deny')
  assert.equal((await gate.call(key, 'GET', '/killswitch/status')).body.data.active, true)
  await command(folder, 'killswitch', 'recover', ...option, '--comment', 'fine')
  await until('it is taken in', async () => (await decision()) === 'allow')
})

test('a stop is signed at once, and so is its end', async (t) => {
  const gate = await startGate(t)
  const { store } = gate.server
  const signed = async (chain: string) => (await checkpointsOf(store, chain)).at(-1)?.size ?? 0
  const isSigned = async () => (await signed('acme/live')) === (await store.lengths(['acme/live'])).get('acme/live')
  const owner = await gate.key()
  const stop = { level: 'L3', reason: 'x', triggeredBy: 'x' }
  assert.equal((await gate.call(owner, 'POST', '/killswitch/trigger', stop)).status, 200)
  await until('it is signed', isSigned)
  assert.equal((await gate.call(owner, 'POST', '/killswitch/recover', { recoveredBy: 'x', comment: 'x' })).status, 200)
  await until('its end is signed', isSigned)
  const admin = await gate.key({ roles: ['admin'] })
  const before = await signed('_system')
  assert.equal((await gate.call(admin, 'POST', '/killswitch/trigger', { ...stop, level: 'L4' })).status, 200)
  await until('a stop of everything is signed', async () => (await signed('_system')) > before)
})

test('log keys that the command line rotates or revokes become those of a running service, by itself', async (t) => {
  const gate = await startGate(t)
  const folder = { data: join(gate.dir, 'data'), policies: join(gate.dir, 'policies') }
  const { store } = gate.server
  const { from, to } = await command(folder, 'signing-keys', 'rotate')
  await until('the key is taken in', async () => keyInUse(store)?.id === to.id)
  await command(folder, 'signing-keys', 'revoke', from.id, '--since', '2020-01-01T00:00:00Z')
  const revokedAt = () => store.state().signingKeys.get(from.id)?.revokedAt
  await until('the revocation is taken in', async () => typeof revokedAt() === 'string')
})

test('of two services, what one stops the other does not allow any more', async (t) => {
  const dir = temporaryFolder()
  const [one, other] = [await startGate(t, { dir }), await startGate(t, { dir })]
  const key = await one.key()
  const decide = async () =>
    (await other.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })).body
  await until('it is taken in', async () => (await decide()).data?.decision === 'allow')
  const stop = { tenantId: 'acme', level: 'L1', scope: 'email.*', reason: 'odd mail', triggeredBy: 'ann' }
  await one.call(key, 'POST', '/killswitch/trigger', stop)
  // No waiting: the commit of an allow looks at the file.
  const { decision, decidedBy } = (await decide()).data
  assert.deepEqual([decision, decidedBy], ['deny', 'kill_switch'])
  const active = async () => (await other.call(key, 'GET', '/killswitch/status')).body.data.active
  await until('it is taken in', active)
  await other.call(key, 'POST', '/killswitch/recover', { tenantId: 'acme', recoveredBy: 'ann', comment: 'fine' })
  const again = async () =>
    (await one.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })).body.data.decision
  await until('it is taken in', async () => (await again()) === 'allow')
})
