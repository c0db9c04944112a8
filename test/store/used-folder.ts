import assert from 'node:assert/strict'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import Sqlite, { type Database } from 'better-sqlite3'
import { prunable, prune } from '../../src/actions/audit/prune.ts'
import { verifySeqs } from '../../src/actions/audit/verify-range.ts'
import { actorOf } from '../../src/actions/deps.ts'
import { digestOf } from '../../src/base/digest.ts'
import { GateError } from '../../src/base/errors.ts'
import { type Clock, DAY_MS, formatTimestamp } from '../../src/base/time.ts'
import { sealKeysAt } from '../../src/files/signing-key.ts'
import { UnusableFile } from '../../src/store/errors.ts'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { ACME_POLICY, startGate, temporaryFolder } from '../helpers.ts'
import { until } from '../until.ts'
import { commit, enrolment, note, only } from './drafts.ts'
import { withTables } from './old-tables.ts'
import { openTrail } from './open-trail.ts'

const OTHER = 'other/live'
const KEY_FILE = 'signing-key.pem'

/** With sessions, and a rule that counts. */
const POLICY = `${ACME_POLICY.replace('facts: {', 'facts: {context.session: {type: string}, ')}
  - {id: many, actions: ["payment.*"], effect: deny, reason: Too many., when: {fact: history.count.payments, operator: greaterThan, value: 1000}}
session: {fact: context.session}
history: {count: {payments: {actions: ["payment.*"], within: 1h, by: agent}}}
`

const payment = (amount: number, tenantId = 'acme') => ({
  tenantId,
  action: 'payment.transfer',
  context: { amount, session: 'morning' },
})

/** A data folder with every kind of record and entry in it, made by the service itself. Its server has ended. */
export async function usedFolder(t: TestContext): Promise<string> {
  const gate = await startGate(t, { dir: temporaryFolder(), policies: { 'acme/main.yaml': POLICY } })
  const owner = await gate.key({ roles: ['owner'] })
  const agent = await gate.key({ roles: ['agent'], identity: 'bot' })
  const approver = await gate.key({ roles: ['approver'], identity: 'ann' })
  const tester = await gate.key({ environment: 'test' })
  const spare = await gate.key({ tenant: 'other' })
  const post = async (key: typeof owner, path: string, body: object) => {
    const { status, body: answer } = await gate.call(
      key,
      'POST',
      path,
      { tenantId: key.tenant, ...body },
      { 'idempotency-key': `k-${path}` },
    )
    assert.equal(status, 200, JSON.stringify(answer))
    return answer.data
  }
  await policyRecorded(gate.server.store)
  await gate.call(agent, 'POST', '/gate/check', payment(3))
  const { decisionId } = (await gate.call(agent, 'POST', '/gate/check', payment(4))).body.data
  await post(agent, '/gate/outcome', { decisionId, status: 'failed', error: 'no funds' })
  const held = await post(agent, '/gate/check', payment(2000))
  await post(approver, `/approvals/${held.approvalId}/approve`, { approverId: 'ann' })
  await gate.call(agent, 'POST', '/gate/check', payment(2000))
  const waiting = await gate.call(agent, 'POST', '/gate/check', payment(3000))
  await post(approver, `/approvals/${waiting.body.data.approvalId}/approve`, { approverId: 'ann' })
  await gate.call(agent, 'POST', '/gate/check', payment(4000))
  await post(tester, '/gate/check', payment(5))
  await post(spare, '/killswitch/trigger', { level: 'L3', reason: 'drill', triggeredBy: 'ann' })
  await post(spare, '/killswitch/recover', { recoveredBy: 'ann', comment: 'over' })
  await post(owner, '/killswitch/trigger', { level: 'L1', scope: 'email.*', reason: 'odd mail', triggeredBy: 'ann' })
  await gate.call(owner, 'DELETE', `/keys/${tester.id}`)
  const { keys } = gate.server.store.state()
  const by = actorOf(keys.get(owner.id) ?? assert.fail())
  await gate.server.store.commit(only(...Array.from({ length: 300 }, (_, n) => note({ n }, { actor: by }))))
  await post(agent, '/audit/log', { eventType: 'custom.note', data: { note: 'the last one' } })
  const trial = { kind: 'trial', at: formatTimestamp(Date.now()), bytes: 1 } as const
  await gate.server.store.commit({ guards: [], writes: [trial], entries: [] })
  await gate.server.close()
  await pruneOther(join(gate.dir, 'data'))
  return join(gate.dir, 'data')
}

/** As somebody does much later: of the other tenant little is left. */
async function pruneOther(dir: string): Promise<void> {
  const trail = await openTrail(dir, () => Date.now() + 200 * DAY_MS)
  await commit(trail.store, enrolment(OTHER))
  const range = await prunable(trail, OTHER, { beforeMs: Date.now() + 100 * DAY_MS })
  const record = { archive: { first: 0, manifest: digestOf('the archive') }, reason: 'kept for half a year' }
  await prune(trail, { kind: 'host', id: 'host:0' }, range, record)
  const delivery = { sink: 'file', number: 1, at: '2026-01-01T00:00:00.000Z' }
  await trail.store.commit({ guards: [], writes: [{ kind: 'anchored', delivery }], entries: [] })
  await trail.close()
}

async function policyRecorded(store: Store): Promise<void> {
  await until('the policy set is recorded', () => store.state().policies.has('acme'))
}

/** A copy of the folder's data file and log key, in a folder of its own. */
export function copyOf(dir: string): string {
  const copy = temporaryFolder()
  for (const name of [DATA_FILE, KEY_FILE]) if (existsSync(join(dir, name))) cpSync(join(dir, name), join(copy, name))
  return copy
}

/** Opens the file as an intruder does: no guard rails, no checks, and the trail as what is hashed (`withTables`). */
export function tamper(dir: string, change: (db: Database) => void): void {
  tamperFile(join(dir, DATA_FILE), change)
}

/** The same for a file that a service may have open. */
export function tamperFile(path: string, change: (db: Database) => void): void {
  const db = new Sqlite(path)
  withTables(db)
  db.pragma('synchronous = OFF')
  db.pragma('ignore_check_constraints = ON')
  const rails = db.prepare<[], { sql: string; name: string }>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'",
  )
  const triggers = rails.all()
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`)
  change(db)
  for (const { sql } of triggers) db.exec(sql)
  db.close()
}

export type Finding = 'at open' | 'by audit verify' | 'nothing found'

/** Returns the check that finds the fault in the file, if any, and its message. */
export async function findingIn(dir: string, clock: Clock = Date.now): Promise<{ finding: Finding; message: string }> {
  let store: Store
  try {
    const keyFile = join(dir, KEY_FILE)
    const sealKeys = existsSync(keyFile) ? sealKeysAt(keyFile) : undefined
    store = openStore({ dir, create: false, clock, sealKeys })
  } catch (error) {
    assert.ok(error instanceof UnusableFile, `refused by ${String(error)}`)
    return { finding: 'at open', message: error.message }
  }
  try {
    for (const chain of await store.chainsEver()) {
      const { valid, fault, firstBadSeq } = await verifySeqs(store, chain, undefined)
      if (!valid) return { finding: 'by audit verify', message: `${chain}, entry ${firstBadSeq}: ${fault}` }
    }
    return { finding: 'nothing found', message: '' }
  } catch (error) {
    assert.ok(error instanceof GateError && error.code === 'audit_unavailable', `verify ended in ${String(error)}`)
    return { finding: 'by audit verify', message: error.message }
  } finally {
    await store.close()
  }
}
