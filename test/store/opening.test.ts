import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { DATA_FILE, openDatabase } from '../../src/sqlite/open.ts'
import { temporaryFolder } from '../helpers.ts'

const HELD_MS = 500

/** Another process that writes a new file, which is not in WAL mode yet, and holds its lock for a while. */
const HOLDER = `
const Sqlite = require('better-sqlite3')
const db = new Sqlite(process.argv[1])
db.exec('BEGIN IMMEDIATE')
process.stdout.write('held')
setTimeout(() => { db.exec('COMMIT'); db.close() }, ${HELD_MS})
`

test('a new file whose lock another process holds is opened when that one is done', async () => {
  const dir = temporaryFolder()
  const holder = spawn(process.execPath, ['-e', HOLDER, join(dir, DATA_FILE)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(holder, 'close')
  await once(holder.stdout, 'data')
  const begin = performance.now()
  const db = openDatabase(dir, { create: true })
  assert.ok(performance.now() - begin > HELD_MS / 2, 'it waited')
  assert.equal(db.pragma('journal_mode', { simple: true }), 'wal')
  db.close()
  await ended
})
