import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Database } from 'better-sqlite3'
import { draftAt, prepareEntry } from '../../src/audit/draft.ts'
import { seal } from '../../src/audit/entry.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { connect } from '../../src/store/sqlite/connection.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { startGate } from '../helpers.ts'
import { assertDone, assertRefused, untilLoaded } from '../http/support.ts'
import { until } from '../until.ts'
import { aDecision, LIVE } from './drafts.ts'
import { tamper } from './used-folder.ts'

const NOTE = { eventType: 'custom.note', data: {} }
const TABLES = ['audit_entry', 'shared_text', 'checkpoint', 'tree_node', 'seal', 'api_key', 'policy']

/** Rows of a chain and all keys, as somebody copies them who wants that state back. */
function stateIn(dir: string) {
  const rows = new Map<string, Record<string, unknown>[]>()
  tamper(dir, (db) => {
    for (const table of TABLES)
      rows.set(table, db.prepare<[], Record<string, unknown>>(`SELECT * FROM ${table} ${where(db, table)}`).all())
  })
  return rows
}

const where = (db: Database, table: string): string => {
  const columns = db.prepare<[], { name: string }>(`SELECT name FROM pragma_table_xinfo('${table}')`).all()
  const chain = ['audit_entry', 'shared_text'].includes(table)
    ? `(SELECT number FROM main.chain WHERE name = '${LIVE}')`
    : `'${LIVE}'`
  return columns.some(({ name }) => name === 'chain') ? `WHERE chain = ${chain}` : ''
}

function putBack(dir: string, rows: ReturnType<typeof stateIn>): void {
  tamper(dir, (db) => {
    for (const [table, all] of rows) {
      db.exec(`DELETE FROM ${table} ${where(db, table)}`)
      for (const row of all) {
        // Of generated columns, the others give the values.
        const names = Object.keys(row).filter((name) => isStored(db, table, name))
        const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
        db.prepare(sql).run(names.map((name) => row[name]))
      }
    }
  })
}

const isStored = (db: Database, table: string, name: string): boolean =>
  db.prepare(`SELECT 1 FROM pragma_table_xinfo('${table}') WHERE name = ? AND hidden = 0`).get(name) !== undefined

test('a chain that is put back alone to an earlier state takes nothing: _system records that more was signed', async (t) => {
  const first = await startGate(t)
  const [owner, agent] = [await first.key(), await first.key({ roles: ['agent'] })]
  await untilLoaded(first, owner)
  await first.server.close()
  const data = join(first.dir, 'data')
  const before = stateIn(data)
  const second = await startGate(t, { dir: first.dir })
  assertDone(await second.call(owner, 'DELETE', `/keys/${agent.id}`))
  await second.server.close()
  putBack(data, before)
  const third = await startGate(t, { dir: first.dir })
  const answer = await third.call(agent, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
  assertRefused(answer, 'audit_unavailable')
  const { body } = await third.call(owner, 'GET', '/readyz')
  assert.match(body.message, /audit chain/)
})

test('a running service finds at once that its newest entries were cut off, though an earlier seal was put back', async (t) => {
  const gate = await startGate(t)
  const [owner, agent] = [await gate.key(), await gate.key({ roles: ['agent'] })]
  assertDone(await gate.call(owner, 'POST', '/audit/log', NOTE))
  const before = stateIn(join(gate.dir, 'data'))
  assertDone(await gate.call(owner, 'DELETE', `/keys/${agent.id}`))
  putBack(join(gate.dir, 'data'), before)
  await until('it is not ready', async () => (await fetch(`${gate.server.url}/readyz`)).status === 503)
  assertRefused(await gate.call(owner, 'POST', '/audit/log', NOTE), 'audit_unavailable')
})

test('what was appended without the log key is neither signed nor in a bundle, and shows in readiness', async (t) => {
  const gate = await startGate(t)
  const owner = await gate.key()
  assertDone(await gate.call(owner, 'POST', '/audit/log', NOTE))
  const { db, entries } = connect(openDatabase(join(gate.dir, 'data'), { create: false }))
  const forged = aDecision('allow')
  const ts = new Date().toISOString()
  const prepared = prepareEntry(forged)
  const salts = Buffer.alloc(32 * 4)
  const sealed = seal(entries.head(LIVE) ?? assert.fail(), draftAt(prepared, ts), ts, salts)
  entries.append(sealed, prepared, salts)
  db.close()
  assertRefused(await gate.call(owner, 'GET', `/evidence/bundle/${forged.decision.id}`), 'audit_unavailable')
  const signed = (await gate.server.store.lastCheckpoint(LIVE))?.size ?? 0
  assert.ok(signed < (await lengthOf(gate.server.store, LIVE)))
  assert.equal((await fetch(`${gate.server.url}/readyz`)).status, 503)
})
