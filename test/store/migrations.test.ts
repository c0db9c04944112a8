import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { DATA_FILE, openDatabase } from '../../src/store/sqlite/open.ts'
import { temporaryFolder } from '../helpers.ts'

const FIRST = readFileSync(new URL('../../src/store/sqlite/migrations/0001_init.sql', import.meta.url), 'utf8')

test('a file of the first version keeps the policies that were in force, under the digest on record', () => {
  const dir = temporaryFolder()
  const old = new Sqlite(join(dir, DATA_FILE))
  old.exec(FIRST)
  old.pragma('user_version = 1')
  old.prepare("INSERT INTO policy (id, body, changed) VALUES ('acme', ?, 1)").run('{"digest":"sha256:aa"}')
  const put = old.prepare('INSERT INTO policy_source (tenant, source) VALUES (?, ?)')
  put.run('acme', 'täxt')
  put.run('nobody', 'of which no record says what it is')
  old.close()
  const db = openDatabase(dir, { create: false })
  assert.deepEqual(db.prepare('SELECT * FROM policy_text').all(), [
    { tenant: 'acme', digest: 'sha256:aa', loaded: 1, bytes: 5, source: 'täxt' },
  ])
  db.close()
})
