import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import { verifyBundle } from '../../src/evidence/verify.ts'
import { assertOneHistory, checkpointsOf } from '../evidence/signed.ts'
import { openFile, temporaryFolder } from '../helpers.ts'
import { until } from '../until.ts'
import { assertRecorded, command, folderIn, later, load, serve } from './processes.ts'

const BIN = fileURLToPath(new URL('../../bin/gate-sidecar.js', import.meta.url))
const ROUNDS = 4

/** Starts a command and kills it after so many milliseconds, unless it has ended. */
function killedAfter(ms: number, ...args: string[]): Promise<void> {
  return new Promise((done) => {
    const child = execFile(process.execPath, [BIN, ...args], { timeout: ms, killSignal: 'SIGKILL' }, () => done())
    child.stdin?.end()
  })
}

test('kill -9 of a service that signs, and of rotations of its key: what is signed is of one history', async (t) => {
  const folder = folderIn(temporaryFolder())
  const key = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'auditor', '--role', 'agent')
  const acknowledged: string[] = []
  const signed: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const service = await serve(t, folder)
    const running = load(service.url, key, 8)
    await until('decisions are made', async () => running.acknowledged.length > 300)
    await Promise.all([
      later(Math.random() * 1500),
      killedAfter(Math.round(400 + Math.random() * 1200), 'signing-keys', 'rotate', '--data', folder.data),
    ])
    await service.end('SIGKILL')
    await running.stop()
    acknowledged.push(...running.acknowledged)
    const store = openFile(folder.data)
    signed.push((await checkpointsOf(store)).length)
    await assertOneHistory(store)
    await store.close()
  }
  assert.ok((signed.at(-1) ?? 0) > ROUNDS, `${signed} checkpoints`)

  const service = await serve(t, folder)
  const headers = { 'x-api-key': key.key, 'x-tenant-id': 'acme' }
  const bundles = await Promise.all(
    [acknowledged[0], acknowledged.at(-1)].map(async (id) => {
      const answer = await fetch(`${service.url}/evidence/bundle/${id}`, { headers })
      assert.equal(answer.status, 200)
      return ((await answer.json()) as { data: unknown }).data
    }),
  )
  await service.end('SIGTERM')
  const store = openFile(folder.data)
  t.after(() => store.close())
  const inputs = { trust: trustOf(store), nowMs: Date.now() }
  for (const bundle of bundles) assert.equal(verifyBundle(bundle, inputs).verdict, 'valid')
  await assertOneHistory(store)
  await assertRecorded(folder.data, acknowledged)
})

test('the keys of a service: shown, rotated, revoked, and what evidence then is worth', async (t) => {
  const folder = folderIn(temporaryFolder())
  const key = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'auditor', '--role', 'agent')
  const service = await serve(t, folder)
  const headers = { 'x-api-key': key.key, 'x-tenant-id': 'acme', 'content-type': 'application/json' }
  const body = JSON.stringify({ tenantId: 'acme', action: 'email.send' })
  const asked = await fetch(`${service.url}/gate/check`, { method: 'POST', headers, body })
  const { decisionId } = ((await asked.json()) as { data: { decisionId: string } }).data
  const file = `${folder.data}/bundle.json`
  const verdict = async (...pins: string[]): Promise<string> => {
    const trust = `${folder.data}/trust.json`
    await command(folder, 'signing-keys', 'export-trust', '--out', trust)
    const args = [BIN, 'evidence', 'verify', file, ...(pins.length > 0 ? pins : ['--trust', trust]), '--json']
    return new Promise((done) => execFile(process.execPath, args, (_, out) => done(JSON.parse(out).verdict)))
  }
  await command(folder, 'evidence', 'export', decisionId, '--out', file)
  const [old] = await command(folder, 'signing-keys', 'show')
  assert.equal(await verdict(), 'valid')

  const { from, to } = await command(folder, 'signing-keys', 'rotate')
  assert.deepEqual([from.id, from.status, to.status], [old.id, 'retired', 'active'])
  const [inUse, retired] = await command(folder, 'signing-keys', 'show')
  assert.deepEqual([inUse.id, retired.id], [to.id, old.id])
  assert.equal(await verdict(), 'valid')
  assert.equal(await verdict('--vkey', to.vkey), 'invalid', 'no rotation travels with what was exported before')
  await command(folder, 'evidence', 'export', decisionId, '--out', file)
  for (const vkey of [old.vkey, to.vkey]) assert.equal(await verdict('--vkey', vkey), 'valid')

  const revoked = await command(folder, 'signing-keys', 'revoke', old.id, '--since', '2020-01-01T00:00:00Z')
  assert.deepEqual([revoked.status, revoked.revokedAt], ['revoked', '2020-01-01T00:00:00.000Z'])
  assert.equal(await verdict(), 'incomplete')
  await service.end('SIGTERM')
})
