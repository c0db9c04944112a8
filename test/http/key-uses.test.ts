import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { rememberKeyUses } from '../../src/actions/keys/uses.ts'
import { fileTest, type Gate, openBeside, startGate, temporaryFolder } from '../helpers.ts'
import { assertDone, assertRefused, entries } from './support.ts'

type Key = Awaited<ReturnType<Gate['key']>>

const T0 = Date.parse('2026-03-01T10:00:00.000Z')
const at = (ms: number): string => new Date(T0 + ms).toISOString()

/** Returns the last use of each key, as told to a key that may list them. */
async function listed(gate: Gate, by: Key): Promise<Record<string, string | null>> {
  const answer = await gate.call(by, 'GET', '/keys')
  assertDone(answer)
  const keys: { id: string; lastUsedAt: string | null }[] = answer.body.data
  return Object.fromEntries(keys.map(({ id, lastUsedAt }) => [id, lastUsedAt]))
}

/** Returns the last uses that the file holds. */
async function stored(dir: string, ...keyIds: string[]): Promise<ReadonlyMap<string, string>> {
  const store = await openBeside(dir)
  try {
    return await store.keyUses(keyIds)
  } finally {
    await store.close()
  }
}

test('each request with a key is a use of it, refused ones too; one with a key that has ended is none', async (t) => {
  let now = T0
  const gate = await startGate(t, { clock: () => now })
  const [owner, agent, idle, revoked] = [
    await gate.key(),
    await gate.key({ roles: ['agent'] }),
    await gate.key(),
    await gate.key(),
  ]
  assertDone(await gate.call(owner, 'DELETE', `/keys/${revoked.id}`))
  assertRefused(await gate.call(revoked, 'GET', '/keys'), 'unauthenticated')
  now = T0 + 1000
  assertDone(await gate.call(agent, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' }))
  now = T0 + 2000
  assert.deepEqual(await listed(gate, owner), {
    [owner.id]: at(2000),
    [agent.id]: at(1000),
    [idle.id]: null,
    [revoked.id]: null,
  })
  assertRefused(await gate.call(agent, 'GET', '/keys'), 'forbidden')
  now = T0 + 3000
  assertRefused(await gate.call({ ...agent, tenant: 'other' }, 'GET', '/keys'), 'tenant_mismatch')
  assert.equal((await listed(gate, owner))[agent.id], at(3000))
})

test('a test key is not told when live keys were used', async (t) => {
  const gate = await startGate(t)
  const [owner, sandbox] = [await gate.key(), await gate.key({ environment: 'test' })]
  await listed(gate, owner)
  assert.deepEqual(Object.keys(await listed(gate, sandbox)), [sandbox.id])
})

test('it is there after a stop, and no entry says so', async (t) => {
  let now = T0
  const dir = temporaryFolder()
  const gate = await startGate(t, { clock: () => now, dir })
  const [owner, agent] = [await gate.key(), await gate.key({ roles: ['agent'] })]
  assertDone(await gate.call(agent, 'GET', '/killswitch/status'))
  const before = await entries(gate)
  await gate.server.close()
  now = T0 + 60_000
  const again = await startGate(t, { clock: () => now, dir })
  assert.equal((await listed(again, owner))[agent.id], at(0))
  assert.equal(await entries(again), before)
})

test('nothing is written while nothing was used, and what was written is not written again', async (t) => {
  const dir = temporaryFolder()
  const store = await openBeside(dir)
  t.after(() => store.close())
  let commits = 0
  const counted = {
    ...store,
    commit(submission: Parameters<typeof store.commit>[0]) {
      commits += 1
      return store.commit(submission)
    },
  }
  const uses = rememberKeyUses({ store: counted })
  await uses.flush()
  assert.equal(commits, 0)
  uses.note('key_a', T0)
  await uses.flush()
  await uses.flush()
  assert.equal(commits, 1)
  for (let i = 0; i < 1200; i += 1) uses.note(`key_${i}`, T0 + 1)
  await uses.flush()
  assert.equal(commits, 4, 'in parts')
  assert.equal((await store.keyUses(['key_a', 'key_1199'])).get('key_1199'), at(1))
})

fileTest(
  'a file that cannot be written or read fails no list and no stop, and what was used is written later',
  async (t) => {
    const dir = temporaryFolder()
    const gate = await startGate(t, { clock: () => T0, dir })
    const owner = await gate.key()
    const file = join(dir, 'data/gate-sidecar.db')
    const uses = rememberKeyUses({ store: gate.server.store })
    uses.note(owner.id, T0 + 5)
    renameSync(file, `${file}.away`)
    await assert.rejects(uses.flush(), { code: 'audit_unavailable' })
    assert.equal((await listed(gate, owner))[owner.id], at(0))
    renameSync(`${file}.away`, file)
    await uses.flush()
    assert.equal((await listed(gate, owner))[owner.id], at(5))
    renameSync(file, `${file}.away`)
    await gate.server.close()
    renameSync(`${file}.away`, file)
  },
)

test('of several services on one file, the later use is shown', async (t) => {
  const dir = temporaryFolder()
  const clocks = [T0 + 1000, T0 + 9000, T0 + 5000]
  const gates = []
  for (const ms of clocks) gates.push(await startGate(t, { clock: () => ms, dir }))
  const [first, second, third] = gates
  assert.ok(first && second && third)
  const owner = await first.key()
  for (const gate of [second, third]) gate.server.store.refresh()
  for (const gate of gates) await listed(gate, owner)
  for (const gate of [second, third, first]) await gate.server.close()
  assert.deepEqual(await stored(dir, owner.id), new Map([[owner.id, at(9000)]]))
})
