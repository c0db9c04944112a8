import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Database } from 'better-sqlite3'
import { canonicalJson } from '../../src/base/canonical.ts'
import { hashSecret } from '../../src/keys/secret.ts'
import { type Gate, startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { tamper } from './used-folder.ts'

const STOP = { level: 'L3', reason: 'odd', triggeredBy: 'ann' }
const MAIL = { tenantId: 'acme', action: 'email.send' }

/** A service whose data file somebody edits while it runs. */
async function watched(t: TestContext) {
  const gate: Gate = await startGate(t)
  const [owner, agent] = [await gate.key(), await gate.key({ roles: ['agent'] })]
  assert.equal((await gate.call(agent, 'POST', '/gate/check', MAIL)).body.data.decision, 'allow')
  return {
    gate,
    owner,
    agent,
    check: () => gate.call(agent, 'POST', '/gate/check', MAIL),
    edit: (change: (db: Database) => void) =>
      tamper(`${gate.dir}/data`, (db) => {
        change(db)
        db.exec('UPDATE instance SET state_version = state_version + 1')
      }),
    noticed: () => until('the edit is noticed', () => gate.server.store.altered().length > 0),
  }
}

function editBody(db: Database, table: string, id: string, change: (record: Record<string, unknown>) => object): void {
  const body = db.prepare<[string], string>(`SELECT body FROM ${table} WHERE id = ?`).pluck().get(id) ?? assert.fail()
  const changed = db.prepare<[], number>('SELECT state_version + 1 FROM instance').pluck().get()
  db.prepare(`UPDATE ${table} SET body = ?, changed = ? WHERE id = ?`).run(
    canonicalJson(change(JSON.parse(body))),
    changed,
    id,
  )
}

test('a stop that was ended in its row alone stays in force, and the tenant is allowed nothing', async (t) => {
  const { gate, owner, check, edit, noticed } = await watched(t)
  const { switches } = (await gate.call(owner, 'POST', '/killswitch/trigger', STOP)).body.data
  const ended = { recoveredAt: new Date().toISOString(), recoveredBy: 'x', comment: 'x', revision: 2 }
  edit((db) => editBody(db, 'kill_switch', switches[0].id, (stop) => ({ ...stop, ...ended })))
  await noticed()
  assert.equal((await check()).body.data.decidedBy, 'kill_switch')
  assert.match(
    gate.server.store.altered()[0]?.message ?? '',
    /switch ksw_\w+ differs from what the audit chain records/,
  )
})

test('a key that was given roles in its row alone has none of them, and what it asks is not allowed', async (t) => {
  const { gate, agent, check, edit, noticed } = await watched(t)
  edit((db) => editBody(db, 'api_key', agent.id, (key) => ({ ...key, roles: ['owner'], revision: 2 })))
  await noticed()
  assert.equal((await gate.call(agent, 'GET', '/keys')).status, 403)
  const refused = await check()
  assert.deepEqual([refused.status, refused.body.error], [503, 'audit_unavailable'])
})

test('a key that was inserted is unknown, and gone again leaves no fault', async (t) => {
  const { gate, edit, noticed } = await watched(t)
  const secret = (await gate.key({ roles: ['approver'], identity: 'ghost' })).secret
  const ghost = { ...gate.server.store.state().keysByHash.get(hashSecret(secret)), id: 'key_ghost' }
  const record = { ...ghost, hash: hashSecret('another'), identity: 'nobody', revision: 1 }
  edit((db) =>
    db
      .prepare('INSERT INTO api_key (id, body, changed) SELECT ?, ?, state_version + 1 FROM instance')
      .run('key_ghost', canonicalJson(record)),
  )
  await noticed()
  assert.equal(gate.server.store.state().keys.has('key_ghost'), false)
  edit((db) => db.prepare('DELETE FROM api_key WHERE id = ?').run('key_ghost'))
  await until('the fault is gone', () => gate.server.store.altered().length === 0)
})

test('a key whose row was altered can be revoked all the same', async (t) => {
  const { gate, owner, agent, edit, noticed } = await watched(t)
  edit((db) => editBody(db, 'api_key', agent.id, (key) => ({ ...key, roles: ['owner'], revision: 9 })))
  await noticed()
  assert.equal((await gate.call(owner, 'DELETE', `/keys/${agent.id}`)).status, 200)
  assert.deepEqual(gate.server.store.altered(), [])
  assert.equal((await gate.call(agent, 'GET', '/killswitch/status')).status, 401)
})

test('a version of the state that went back hides nothing: nothing is allowed until a restart', async (t) => {
  const { gate, check } = await watched(t)
  tamper(`${gate.dir}/data`, (db) => db.exec('UPDATE instance SET state_version = 0'))
  await until('the edit is noticed', () => gate.server.store.altered().length > 0)
  assert.equal((await check()).status, 503)
})
