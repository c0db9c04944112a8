import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { DATA_FILE, openDatabase } from '../../src/store/sqlite/open.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../helpers.ts'
import { processorMs } from '../processor.ts'
import { storeContract } from './contract.ts'

storeContract(
  () => temporaryFolder(),
  (dir, clock) => openStore({ dir, create: true, clock }),
)

const pragmas: { name: string; value: unknown; why: string }[] = [
  { name: 'journal_mode', value: 'wal', why: 'readers do not wait for writers' },
  { name: 'synchronous', value: 2, why: 'FULL: a commit is on disk when it returns' },
  { name: 'busy_timeout', value: 0, why: 'the event loop never waits for a lock' },
  { name: 'trusted_schema', value: 0, why: 'a schema that was tampered with calls no functions' },
  { name: 'secure_delete', value: 1, why: 'what is erased is gone' },
]

for (const { name, value, why } of pragmas) {
  test(`pragma ${name} is ${value}: ${why}`, (t) => {
    const db = openDatabase(temporaryFolder(), { create: true })
    t.after(() => db.close())
    assert.equal(db.pragma(name, { simple: true }), value)
  })
}

test('the file and its folder belong to this user alone', () => {
  const dir = join(temporaryFolder(), 'new', 'data')
  openDatabase(dir, { create: true }).close()
  assert.equal(statSync(dir).mode & 0o777, 0o700)
  assert.equal(statSync(join(dir, DATA_FILE)).mode & 0o777, 0o600)
})

test('an existing file is opened and read while another process holds the write lock', async (t) => {
  const dir = temporaryFolder()
  await openStore({ dir, create: true, clock: Date.now }).close()
  const holder = openDatabase(dir, { create: false })
  t.after(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  const store = openStore({ dir, create: false, clock: Date.now })
  t.after(() => store.close())
  assert.deepEqual(await store.chains(), [])
})

test('decisions are counted and paged, chains are named, and what was pruned is found, without passing over every entry', async (t) => {
  const dir = temporaryFolder()
  const store = openStore({ dir, create: true, clock: Date.now })
  t.after(() => store.close())
  const db = openDatabase(dir, { create: false })
  t.after(() => db.close())
  // Every thousandth entry is a note. Headers are padded to the size that real ones have.
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59999)
    INSERT INTO audit_entry (at, ts, id, hash, prev, commits, salts, type, actor)
      SELECT (1 << 33) + i, i, randomblob(16), zeroblob(32), zeroblob(32), zeroblob(64), zeroblob(64),
        iif(i % 1000 = 0, 'my.note', NULL), hex(zeroblob(250)) FROM n`)
  db.exec("INSERT INTO chain (name) VALUES ('acme/live')")
  const timed = async (work: () => unknown): Promise<number> => {
    const since = processorMs()
    await work()
    return processorMs() - since
  }
  const count = db.prepare('SELECT count(*) FROM audit_entry NOT INDEXED WHERE chain = 1 AND type IS NULL')
  const scan = await timed(() => count.get())
  const asked = { chain: 'acme/live', order: 'asc', limit: 2, offset: 50_000, eventType: 'gate.decision' } as const
  const { items, total } = await store.page(asked)
  assert.deepEqual([items.map(({ header }) => header.seq), total], [[50_051, 50_052], 59_940])
  const page = await timed(() => store.page(asked))
  assert.ok(page < scan / 5, `${page} ms, a scan takes ${scan} ms`)
  const pruned = await timed(() => store.pruned('acme/live'))
  assert.ok(pruned < scan / 5, `${pruned} ms, a scan takes ${scan} ms`)
  const distinct = await timed(() => db.prepare('SELECT DISTINCT chain FROM audit_entry NOT INDEXED').all())
  const chains = await timed(() => store.chains())
  assert.ok(chains < distinct / 5, `${chains} ms, a scan takes ${distinct} ms`)
})
