import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sweep } from '../../src/actions/audit/sweep.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { startGate, temporaryFolder } from '../helpers.ts'
import { LIVE } from '../store/drafts.ts'
import { openTrail } from '../store/open-trail.ts'
import { tamper } from '../store/used-folder.ts'
import { until } from '../until.ts'
import { grow } from './trail.ts'

test('a service verifies itself after its start, and says so to probes, metrics and the trail', async (t) => {
  const gate = await startGate(t, { settings: { sweep: 'on' } })
  const readiness = async () =>
    (await fetch(`${gate.server.url}/readyz`)).json() as Promise<{ data: { verified: unknown } }>
  const verified = await until('it is verified', async () => (await readiness()).data.verified ?? undefined)
  assert.equal((verified as { valid: boolean }).valid, true)
  const metrics = await (await fetch(`${gate.server.url}/metrics`)).text()
  assert.match(metrics, /^gate_sidecar_audit_valid 1$/m)
  const { items } = await gate.server.store.page({ chain: '_system', order: 'desc', limit: 5, offset: 0 })
  assert.equal(
    items.some(({ header }) => header.type === 'audit.verified'),
    true,
  )
})

test('a chain that was altered is recorded by name, and the others are verified all the same', async () => {
  const dir = temporaryFolder()
  const trail = await openTrail(dir)
  await grow(trail, 30)
  await grow(trail, 5, 'other/live')
  assert.equal((await sweep(trail)).valid, true)
  tamper(dir, (db) => db.prepare("UPDATE section SET json = '{}' WHERE chain = ? AND seq = 20").run(LIVE))
  const { valid, chains } = await sweep(trail)
  assert.equal(valid, false)
  const bad = chains.filter((chain) => !chain.valid)
  assert.deepEqual(
    bad.map(({ chain, status, firstBadSeq }) => ({ chain, status, firstBadSeq })),
    [{ chain: LIVE, status: 'tampered', firstBadSeq: 20 }],
  )
  const head = await lengthOf(trail.store, '_system')
  const recorded = await trail.store.entryAt('_system', head - 1)
  const data = JSON.parse(recorded?.sections.find(({ name }) => name === 'data')?.json ?? '{}')
  assert.deepEqual([data.valid, data.chains, data.faults.length, data.faults[0]?.chain], [false, 3, 1, LIVE])
  await trail.close()
})
