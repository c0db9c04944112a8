import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import Sqlite, { type Database } from 'better-sqlite3'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import { FULL } from '../tier.ts'
import { copyOf, findingIn, tamper, usedFolder } from './used-folder.ts'

interface Column {
  table: string
  column: string
  key: readonly string[]
}

/** Columns whose change is not found, each with the reason why nothing is lost by it. */
const UNFOUND: Record<string, string> = {
  'instance.one': 'a constant',
  'instance.state_version': 'only says when to read records again',
  'tenant.changed': 'only says when to read the record again',
  'api_key.changed': 'only says when to read the record again',
  'signing_key.changed': 'only says when to read the record again',
  'policy.changed': 'only says when to read the record again',
  'kill_switch.changed': 'only says when to read the record again',
  'approval.changed': 'only says when to read the record again',
  'policy_text.tenant': 'a source counts only when its digest is the recorded one',
  'policy_text.digest': 'a source counts only when its digest is the recorded one',
  'policy_text.source': 'a source counts only when its digest is the recorded one',
  'policy_text.loaded': 'only says which sources are the oldest',
  'policy_text.bytes': 'only says which sources are kept',
  'idempotency.key_id': 'forgotten after ten minutes; what it leads to is re-read from the chain',
  'idempotency.route': 'forgotten after ten minutes; what it leads to is re-read from the chain',
  'idempotency.value': 'forgotten after ten minutes; what it leads to is re-read from the chain',
  'idempotency.body_digest': 'forgotten after ten minutes; what it leads to is re-read from the chain',
  'idempotency.entry_id': 'forgotten after ten minutes; what it leads to is re-read from the chain',
  'checkpoint.number': 'only says in which order anchors get them',
  'anchored.sink': 'says what was delivered; what anchors hold is read where they lie',
  'anchored.number': 'says what was delivered; what anchors hold is read where they lie',
  'anchored.at': 'says what was delivered; what anchors hold is read where they lie',
  'key_use.key_id': 'says when a key was used, and permits nothing',
  'key_use.at': 'says when a key was used, and permits nothing',
  'trial.one': 'a constant',
  'trial.at': 'says when a write was tried',
  'trial.filler': 'only takes space',
  'idempotency.at': 'forgotten after ten minutes; what it leads to is re-read from the chain',
}

/** Places in a value at which a byte is altered, as shares of its length. */
const PLACES = FULL ? [0.1, 0.6, 0.99] : [0.6]

function columnsOf(db: Database): Column[] {
  const tables = db
    .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
  return tables.flatMap(({ name: table }) => {
    const info = db.prepare<[], { name: string; pk: number }>(`PRAGMA table_info(${table})`).all()
    const key = info.filter(({ pk }) => pk > 0).map(({ name }) => name)
    return info.map(({ name: column }) => ({ table, column, key }))
  })
}

/** The value with one byte changed, near `place` of its length; JSON stays JSON, since SQLite itself refuses to index other text. */
function altered(value: unknown, place: number): unknown {
  if (typeof value === 'number') return value + 1
  const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(value as Uint8Array)
  const start = Math.min(bytes.length - 1, Math.floor(bytes.length * place))
  const candidates = [...bytes.keys()].map((i) => flippedAt(bytes, (start + i) % bytes.length))
  if (typeof value !== 'string') return candidates[0]
  const texts = candidates.map((candidate) => candidate.toString('utf8'))
  return texts.find((text) => isJson(text) === isJson(value) && !text.includes('\ufffd'))
}

function flippedAt(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}

function isJson(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined
  } catch {
    return false
  }
}

test('one altered byte of any column is found, or does no harm', async (t) => {
  const dir = await usedFolder(t)
  assert.deepEqual(await findingIn(copyOf(dir)), { finding: 'nothing found', message: '' })
  const db = new Sqlite(join(dir, DATA_FILE), { readonly: true })
  t.after(() => db.close())
  const columns = columnsOf(db)
  assert.ok(columns.length > 30)
  for (const { table, column, key } of columns) {
    await t.test(`${table}.${column}`, async () => {
      const rows = db.prepare<[], Record<string, unknown>>(`SELECT * FROM ${table} WHERE ${column} IS NOT NULL`).all()
      assert.ok(rows.length > 0, 'the column has values')
      const where = key.map((name) => `${name} = ?`).join(' AND ')
      const found: string[] = []
      for (const row of new Set([rows.at(0), rows.at(rows.length >> 1), rows.at(-1)])) {
        for (const place of PLACES) {
          const copy = copyOf(dir)
          tamper(copy, (file) => {
            const changes = file
              .prepare(`UPDATE OR REPLACE ${table} SET ${column} = ? WHERE ${where}`)
              .run(altered(row?.[column], place), ...key.map((name) => row?.[name]))
            assert.equal(changes.changes, 1)
          })
          const { finding } = await findingIn(copy)
          found.push(finding)
        }
      }
      const missed = found.filter((finding) => finding === 'nothing found')
      const expected = `${table}.${column}` in UNFOUND
      assert.equal(missed.length > 0, expected, `not found: ${missed.length} of ${found.length}`)
    })
  }
})
