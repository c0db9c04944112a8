import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalLog } from '../../src/http/refusals.ts'
import type { Store } from '../../src/store/store.ts'
import type { Submission } from '../../src/store/submission.ts'
import { type Gate, startGate } from '../helpers.ts'
import { aKey } from '../store/drafts.ts'
import { assertRefused, stopTime } from './support.ts'

/** Closes the gate and returns the recorded refusals of its tenant. */
async function onRecord(t: Parameters<typeof startGate>[0], gate: Gate): Promise<unknown[]> {
  await gate.server.close()
  const again = await startGate(t, { dir: gate.dir })
  const asked = { chain: 'acme/live', order: 'asc', limit: 9, offset: 0, eventType: 'auth.refused' } as const
  const { items } = await again.server.store.page(asked)
  return items.map(({ sections }) => JSON.parse(sections.find(({ name }) => name === 'data')?.json ?? ''))
}

test('a refusal is on record wherever it is found: in the body, by the role that a level needs, by a vote', async (t) => {
  const gate = await startGate(t)
  const owner = await gate.key()
  const mail = { tenantId: 'other', action: 'email.send' }
  assertRefused(await gate.call(owner, 'POST', '/gate/check', mail), 'tenant_mismatch')
  const all = { level: 'L4', reason: 'x', triggeredBy: 'x' }
  assertRefused(await gate.call(owner, 'POST', '/killswitch/trigger', all), 'forbidden')
  const payment = { tenantId: 'acme', action: 'payment.transfer', context: { amount: 2000 } }
  const { approvalId } = (await gate.call(owner, 'POST', '/gate/check', payment)).body.data
  const vote = { tenantId: 'acme', approverId: 'x' }
  assertRefused(await gate.call(owner, 'POST', `/approvals/${approvalId}/approve`, vote), 'self_approval')
  assertRefused(await gate.call(owner, 'GET', '/approvals/apr_unknown'), 'not_found')
  assert.deepEqual(await onRecord(t, gate), [
    { keyId: owner.id, refused: { forbidden: 1, self_approval: 1, tenant_mismatch: 1 } },
  ])
})

test('who sends bodies of other tenants cannot do so forever', async (t) => {
  stopTime(t)
  const gate = await startGate(t)
  const owner = await gate.key()
  const codes: string[] = []
  const guess = async (): Promise<void> => {
    const { body } = await gate.call(owner, 'POST', '/gate/check', { tenantId: 'other', action: 'email.send' })
    codes.push(body.error)
  }
  for (let n = 0; n < 50; n += 1) await Promise.all(Array.from({ length: 16 }, guess))
  assert.ok(codes.includes('tenant_mismatch') && codes.includes('rate_limited'))
})

test('what could not be written is counted on, with what came meanwhile', async () => {
  const written: unknown[] = []
  let fail = true
  const key = aKey()
  const commit = async ({ entries }: Submission) => {
    if (fail) {
      log.count(key, 'forbidden')
      log.count(key, 'self_approval')
      throw new Error('disk full')
    }
    written.push(...entries.map((entry) => ('data' in entry ? entry.data : undefined)))
    return { conflict: null, entries: [] }
  }
  const store = { commit } as Partial<Store> as Store
  const log = refusalLog({ store, clock: () => 0, newId: () => 'aud_1' })
  log.count(key, 'forbidden')
  log.count(key, 'tenant_mismatch')
  await assert.rejects(log.flush(), /disk full/)
  fail = false
  await log.flush()
  assert.deepEqual(written, [{ keyId: key.id, refused: { forbidden: 2, tenant_mismatch: 1, self_approval: 1 } }])
})
