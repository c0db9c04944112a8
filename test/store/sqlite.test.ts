import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { DATA_FILE, openDatabase } from '../../src/sqlite/open.ts'
import { openStore } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../helpers.ts'
import { storeContract } from './suite.ts'

storeContract((dir, clock) => openStore({ dir, create: true, clock }))

const pragmas: { name: string; value: unknown; why: string }[] = [
  { name: 'journal_mode', value: 'wal', why: 'readers do not wait for writers' },
  { name: 'synchronous', value: 2, why: 'FULL: a commit is on disk when it returns' },
  { name: 'busy_timeout', value: 0, why: 'the event loop never waits for a lock' },
  { name: 'trusted_schema', value: 0, why: 'a schema that was tampered with calls no functions' },
  { name: 'secure_delete', value: 1, why: 'what is erased is gone' },
]

for (const { name, value, why } of pragmas) {
  test(`pragma ${name} is ${value}: ${why}`, (t) => {
    const db = openDatabase(temporaryFolder(t), { create: true })
    t.after(() => db.close())
    assert.equal(db.pragma(name, { simple: true }), value)
  })
}

test('the file and its folder belong to this user alone', (t) => {
  const dir = join(temporaryFolder(t), 'new', 'data')
  openDatabase(dir, { create: true }).close()
  assert.equal(statSync(dir).mode & 0o777, 0o700)
  assert.equal(statSync(join(dir, DATA_FILE)).mode & 0o777, 0o600)
})

test('an existing file is opened and read while another process holds the write lock', async (t) => {
  const dir = temporaryFolder(t)
  await openStore({ dir, create: true, clock: Date.now }).close()
  const holder = openDatabase(dir, { create: false })
  t.after(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  const store = openStore({ dir, create: false, clock: Date.now })
  t.after(() => store.close())
  assert.deepEqual(await store.chains(), [])
})
