import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { watchWrites } from '../../src/service/writing.ts'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import { fileTest, type Gate, startGate, temporaryFolder } from '../helpers.ts'
import { openTrail } from '../store/open-trail.ts'
import { tamper } from '../store/used-folder.ts'
import { until } from '../until.ts'

async function readiness({ server }: Gate): Promise<{ status: number; message: string; reasons: string[] }> {
  const response = await fetch(`${server.url}/readyz`)
  const { message = '', details = [] } = (await response.json()) as {
    message?: string
    details?: { message: string }[]
  }
  return { status: response.status, message, reasons: details.map((detail) => detail.message) }
}

const isReady = async (gate: Gate): Promise<boolean> => (await readiness(gate)).status === 200

/** Values of the metric by their labels, or alone under the empty text. */
async function metric({ server }: Gate, name: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const found = text.matchAll(new RegExp(`^gate_sidecar_${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))
  return Object.fromEntries(Array.from(found, ([, labels = '', value]) => [labels, Number(value)]))
}

fileTest('a service that cannot write says so although nobody asks, and is ready again when it can', async (t) => {
  const gate = await startGate(t)
  const holder = new Sqlite(join(gate.dir, 'data', DATA_FILE))
  t.after(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  await until('it is not ready', async () => !(await isReady(gate)))
  const { reasons, message } = await readiness(gate)
  assert.equal(reasons.length, 1)
  assert.match(reasons[0] ?? '', /^The store cannot be written since 20\d\d-/)
  assert.equal(message, reasons[0])
  assert.equal((await metric(gate, 'unready'))['reason="writes"'], 1)
  assert.ok(((await metric(gate, 'commits_refused_total'))['code="overloaded"'] ?? 0) > 0)
  const trials = async (): Promise<number> =>
    (await metric(gate, 'background_failures_total'))['task="try a write"'] ?? 0
  await until('a trial has failed', async () => (await trials()) > 0)
  holder.exec('ROLLBACK')
  await until('it is ready', () => isReady(gate))
  assert.deepEqual(new Set(Object.values(await metric(gate, 'unready'))), new Set([0]))
})

test('a write is tried when there was none for ten seconds; after a failure only a large one shows that writes succeed', async (t) => {
  const dir = temporaryFolder()
  const { store, close } = await openTrail(dir)
  t.after(close)
  const now = performance.now.bind(performance)
  let lateMs = 0
  t.mock.method(performance, 'now', () => now() + lateMs)
  const writes = watchWrites(store, Date.now)
  const file = join(dir, DATA_FILE)
  await writes.tend()
  renameSync(file, `${file}.away`)
  // Not due: it is not tried.
  await writes.tend()
  lateMs += 10_000
  await assert.rejects(writes.tend(), { code: 'audit_unavailable' })
  renameSync(`${file}.away`, file)
  const uses = [{ keyId: 'key_1', at: '2026-01-01T00:00:00.000Z' }]
  await writes.commit({ guards: [], writes: [{ kind: 'keyUse', uses }], entries: [] })
  assert.notEqual(writes.failingSince(), null)
  await writes.tend()
  assert.equal(writes.failingSince(), null)
  assert.deepEqual(writes.refused(), { audit_unavailable: 1, overloaded: 0, internal: 0 })
  const db = new Sqlite(file, { readonly: true })
  assert.deepEqual(db.prepare('SELECT length(filler) AS bytes FROM trial').get(), { bytes: 262_144 })
  db.close()
})

const SECTION = "UPDATE section SET json = ? WHERE chain = 'acme/live' AND name = 'grounds' AND seq = ?"

fileTest(
  'a verification that fails makes a service unready until one of the whole chain is good, restarts included',
  async (t) => {
    const dir = temporaryFolder()
    let gate = await startGate(t, { dir })
    const owner = await gate.key()
    for (let n = 0; n < 3; n += 1)
      await gate.call(owner, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
    const data = join(dir, 'data')
    let seq = 0
    let json = ''
    tamper(data, (db) => {
      const first = "SELECT seq, json FROM section WHERE chain = 'acme/live' AND name = 'grounds' LIMIT 1"
      ;({ seq, json } = db.prepare<[], { seq: number; json: string }>(first).get() ?? assert.fail())
    })
    const write = (text: string): void => tamper(data, (db) => db.prepare(SECTION).run(text, seq))
    write(json.replace('Mail', 'Post'))
    const verify = async (startDate: string): Promise<boolean> =>
      (await gate.call(owner, 'POST', '/audit/verify', { tenantId: 'acme', startDate, endDate: '2099-01-01' })).body
        .data.valid
    assert.equal(await verify('2020-01-01'), false)
    assert.match((await readiness(gate)).message, /^1 altered audit chain;/)
    assert.deepEqual(await metric(gate, 'audit_chain_faults'), { '': 1 })
    // A part that is good says nothing about the rest.
    assert.equal(await verify('2098-01-01'), true)
    assert.equal(await isReady(gate), false)
    write(json)
    assert.equal(await verify('2020-01-01'), true)
    assert.equal(await isReady(gate), true)

    await gate.server.close()
    write(json.replace('Mail', 'Post'))
    gate = await startGate(t, { dir, settings: { sweep: 'on' } })
    await until('the sweep finds it', async () => !(await isReady(gate)))
    await until('it is recorded', async () => (await metric(gate, 'audit_valid'))[''] === 0)
    await until('it is over', async () => '' in (await metric(gate, 'audit_verified_timestamp_seconds')))
    await gate.server.close()
    gate = await startGate(t, { dir })
    assert.match((await readiness(gate)).message, /^1 altered audit chain;/)
    assert.deepEqual(
      [await metric(gate, 'audit_chain_faults'), await metric(gate, 'audit_valid')],
      [{ '': 1 }, { '': 0 }],
    )
    write(json)
    assert.equal(await verify('2020-01-01'), true)
    assert.equal(await isReady(gate), true)
  },
)

test('every refused request is counted by its code, and a refused check in the histogram too', async (t) => {
  const gate = await startGate(t)
  const agent = await gate.key({ roles: ['agent'] })
  const check = (body: unknown, key = agent) => gate.call(key, 'POST', '/gate/check', body)
  await check({ tenantId: 'acme', action: 'email.send' })
  await check({})
  await check('{')
  await check({}, { ...agent, secret: 'sk_live_unknown' })
  await gate.call(agent, 'GET', '/audit/chain')
  await gate.call(agent, 'GET', '/nothing/here')
  const errors = Object.entries(await metric(gate, 'errors_total')).filter(([, count]) => count > 0)
  assert.deepEqual(Object.fromEntries(errors), {
    'code="invalid_request"': 1,
    'code="invalid_json"': 1,
    'code="unauthenticated"': 1,
    'code="forbidden"': 1,
    'code="not_found"': 1,
  })
  assert.deepEqual(await metric(gate, 'check_duration_seconds_count'), { '': 4 })
})
