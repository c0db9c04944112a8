import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { sealKeyFrom } from '../../src/actions/evidence/signing-keys.ts'
import { draftAt, prepareEntry } from '../../src/audit/draft.ts'
import { seal } from '../../src/audit/entry.ts'
import type { SealKey } from '../../src/audit/seal.ts'
import { headOf } from '../../src/audit/verify.ts'
import { sealKeysAt } from '../../src/files/signing-key.ts'
import { connect } from '../../src/store/sqlite/connection.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { openFile, temporaryFolder } from '../helpers.ts'
import { aDecision, aStop, commit, creating, LIVE, note, only, START_MS } from './drafts.ts'
import { tamper } from './used-folder.ts'

const clock = () => START_MS

/** Appends an allow that nobody decided, as who can write the file does: rightly chained, and sealed with what is at hand. */
function append(dir: string, key: SealKey | undefined): void {
  const { db, instance, entries, seals } = connect(openDatabase(dir, { create: false }))
  const head = entries.head(LIVE) ?? assert.fail()
  const prepared = prepareEntry(aDecision('allow'))
  const salts = Buffer.alloc(32 * 4)
  const entry = seal(head, draftAt(prepared, '2026-01-01T00:00:00.000Z'), '2026-01-01T00:00:00.000Z', salts)
  entries.append(entry, prepared, salts)
  if (key !== undefined) seals.put(instance.origin() ?? '', key, LIVE, headOf(entry))
  db.close()
}

async function trail(): Promise<string> {
  const dir = temporaryFolder()
  const store = openFile(dir, clock)
  for (let n = 0; n < 3; n += 1) await commit(store, only(note({ n })))
  await store.close()
  return dir
}

test('a chain that is appended to without the log key is refused at the start', async () => {
  const dir = await trail()
  append(dir, undefined)
  assert.throws(
    () => openFile(dir, clock),
    /acme\/live: entry 4, the newest, was not appended by the holder of the log key/,
  )
})

test('a seal of another log key is none', async () => {
  const dir = await trail()
  append(dir, sealKeyFrom(generateKeyPairSync('ed25519').privateKey))
  assert.throws(() => openFile(dir, clock), /its seal is not by the log key in use/)
})

test('who holds the log key can append: the seal shows no more than that', async () => {
  const dir = await trail()
  append(dir, sealKeysAt(join(dir, 'signing-key.pem'))(undefined))
  await openFile(dir, clock).close()
})

test('while the store is open, nothing is written behind what was appended without the log key', async () => {
  const dir = await trail()
  const store = openFile(dir, clock)
  append(dir, undefined)
  await assert.rejects(commit(store, only(note())), /was not appended by the holder of the log key/)
  // Other chains are written to all the same.
  await commit(store, only(note({}, { chain: 'other/live' })))
  await store.close()
})

test('a process sees that entries which it wrote are gone, though an earlier seal is there again', async () => {
  const dir = temporaryFolder()
  const store = openFile(dir, clock)
  await commit(store, only(note()))
  const { db, instance, entries } = connect(openDatabase(dir, { create: false }))
  const origin = instance.origin() ?? ''
  const earlier = entries.head(LIVE) ?? assert.fail()
  await commit(store, only(note()))
  await store.compareChains()
  assert.deepEqual([...store.alteredChains()], [])
  db.close()
  tamper(dir, (file) => {
    for (const table of ['section', 'entry'])
      file.prepare(`DELETE FROM ${table} WHERE chain = ? AND seq > ?`).run(LIVE, earlier.seq)
  })
  const again = connect(openDatabase(dir, { create: false }))
  const key = sealKeysAt(join(dir, 'signing-key.pem'))(undefined) ?? assert.fail()
  again.seals.put(origin, key, LIVE, earlier)
  again.db.close()
  await store.compareChains()
  assert.match(store.alteredChains().get(LIVE) ?? '', /entry 2 was written and is missing/)
  await assert.rejects(commit(store, only(note())), /entry 2 was written and is missing/)
  await store.close()
})

test('nothing is appended behind another entry in the place of the newest one that this process wrote', async () => {
  const dir = temporaryFolder()
  const store = openFile(dir, clock)
  await commit(store, only(note()))
  tamper(dir, (file) => {
    file.prepare('UPDATE audit_entry SET hash = prev WHERE at = (SELECT max(at) FROM audit_entry)').run()
  })
  await assert.rejects(commit(store, only(note())), /entry 1 was written and is missing/)
  await store.close()
})

test('stops that another process made cost one walk over what came since, however many they are', async (t) => {
  const dir = await trail()
  const [store, other] = [openFile(dir, clock), openFile(dir, clock)]
  t.after(() => Promise.all([store.close(), other.close()]))
  const notes = Array.from({ length: 20 }, (_, i) => i)
  for (const i of notes) {
    await commit(other, creating('switch', aStop({ level: 'L1', scope: `a${i}`, patterns: [`a${i}`] })))
    for (const n of notes.slice(10)) await commit(other, only(note({ n })))
  }
  const empty = new Sqlite(':memory:')
  const statement = empty.prepare('SELECT 1')
  const get = t.mock.method(Object.getPrototypeOf(statement) as typeof statement, 'get')
  empty.close()
  await store.refresh()
  const sources = get.mock.calls.map((call) => (call.this as typeof statement).source)
  const reads = sources.filter((source) => source.includes('FROM audit_entry WHERE at = ?'))
  assert.equal(store.state().switches.length, 20)
  assert.ok(reads.length > 220 && reads.length < 350, `${reads.length} reads of 220 entries`)
})
