import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from 'better-sqlite3'
import { genesisHead } from '../../src/audit/chain.ts'
import { hashHeader, seal } from '../../src/audit/entry.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { parseDigest } from '../../src/base/digest.ts'
import { makeId } from '../../src/base/id.ts'
import { type Change, creation, type RecordKind, type RecordWrite } from '../../src/store/records.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../helpers.ts'
import { aKey, anApproval, aStop, aTenant, commit, creating, enrolment, LIVE, note, only } from './drafts.ts'
import { copyOf, findingIn, tamper } from './used-folder.ts'

interface Forgery {
  name: string
  chain: string
  type: string
  data: object
  /** Written with the entry; without it, the entry alone gives it away. */
  write?: RecordWrite
  named: RegExp
}

const admin = aKey({ id: 'key_forged', tenantId: null, roles: ['admin'] })
const policy = { id: 'acme', revision: 1, digest: 'sha256:', loadedAt: '' }
const made = <K extends RecordKind>({ data }: Change<K>): object => data
const elsewhereApproved = anApproval({ chain: 'other/live' })
const elsewhere = /does not belong to this chain/

/** Entries of another chain are none of an approval. */
const IN_NO_ENTRY = /The stored approval \w+ is in no audit entry/

const forgeries: Forgery[] = [
  {
    name: "an admin key in a tenant's chain",
    chain: LIVE,
    type: 'key.created',
    data: made(creation('key', admin)),
    named: elsewhere,
  },
  {
    name: 'a key of another tenant',
    chain: LIVE,
    type: 'key.created',
    data: made(creation('key', aKey({ tenantId: 'other' }))),
    named: elsewhere,
  },
  {
    name: 'a live key in the test chain',
    chain: 'acme/test',
    type: 'key.created',
    data: made(creation('key', aKey())),
    named: elsewhere,
  },
  {
    name: "a tenant in a tenant's chain",
    chain: LIVE,
    type: 'tenant.created',
    data: made(creation('tenant', aTenant({ id: 'mine' }))),
    named: elsewhere,
  },
  {
    name: 'a policy set in the test chain',
    chain: 'acme/test',
    type: 'policy.loaded',
    data: made(creation('policy', policy)),
    named: elsewhere,
  },
  {
    name: "a stop over everything in a tenant's chain",
    chain: LIVE,
    type: 'killswitch.triggered',
    data: made(creation('switch', aStop({ level: 'L4', target: 'global' }))),
    named: elsewhere,
  },
  {
    name: 'an approval of another chain',
    chain: LIVE,
    type: 'approval.approved',
    data: made(creation('approval', elsewhereApproved)),
    write: creation('approval', elsewhereApproved).write,
    named: IN_NO_ENTRY,
  },
  {
    name: 'a key by an entry about policies',
    chain: LIVE,
    type: 'policy.loaded',
    data: made(creation('key', aKey())),
    named: /an entry policy\.loaded does not change a key/,
  },
  {
    name: 'a kind that there is not',
    chain: LIVE,
    type: 'key.created',
    data: { record: 'constructor', id: 'x', changes: {} },
    named: /not the change of a record/,
  },
  {
    name: 'a change without changes',
    chain: LIVE,
    type: 'key.created',
    data: { record: 'key', id: 'x' },
    named: /not the change of a record/,
  },
  {
    name: 'a key under the id of another',
    chain: LIVE,
    type: 'key.created',
    data: { ...made(creation('key', aKey())), id: 'key_other' },
    named: /another id inside/,
  },
]

for (const { name, chain, type, data, write, named } of forgeries) {
  test(`an entry that may not speak of its record is refused: ${name}`, async () => {
    const dir = temporaryFolder()
    const store = openStore({ dir, create: true, clock: Date.now })
    // The store writes what it is told, so it stands for who can append to the file.
    const forged = only(note(structuredClone(data) as never, { chain, type }))
    await commit(store, { ...forged, writes: write === undefined ? [] : [write] })
    await store.close()
    const { finding, message } = await findingIn(dir)
    assert.equal(finding, 'at open')
    if (named !== IN_NO_ENTRY) assert.match(message, new RegExp(`Audit chain ${chain}, entry 1: `))
    assert.match(message, named)
  })
}

/** Writes another entry over the one at `seq`, well formed and linked to the one before, with the record that it makes. */
function rewrite(db: Database, origin: string, seq: number): void {
  const { data, record } = creation('key', aKey({ id: 'key_forged', roles: ['owner'] }))
  const before = db
    .prepare('SELECT hash FROM entry WHERE chain = ? AND seq = ?')
    .pluck()
    .get(LIVE, seq - 1) as Buffer
  const head = { ...genesisHead(origin, LIVE), seq: seq - 1, hash: `sha256:${before.toString('hex')}` }
  const sections = [
    { name: 'actor', json: canonicalJson({ kind: 'host', id: 'host:0' }) },
    { name: 'data', json: canonicalJson(data) },
  ]
  const draft = { id: makeId('entry', 0, Buffer.alloc(10)), chain: LIVE, type: 'key.created', sections }
  const entry = seal(head, draft, '2026-01-01T00:00:00.000Z', Buffer.alloc(64))
  assert.equal(hashHeader(entry.headerText), entry.hash)
  db.prepare('UPDATE entry SET header = ?, hash = ? WHERE chain = ? AND seq = ?').run(
    entry.headerText,
    parseDigest(entry.hash),
    LIVE,
    seq,
  )
  db.prepare('DELETE FROM section WHERE chain = ? AND seq = ?').run(LIVE, seq)
  const insert = db.prepare('INSERT INTO section (chain, seq, name, salt, json) VALUES (?, ?, ?, ?, ?)')
  for (const { name, salt, json } of entry.sections) insert.run(LIVE, seq, name, salt, json)
  db.prepare('INSERT INTO api_key (id, body, changed) VALUES (?, ?, 1)').run(record.id, canonicalJson(record))
}

test('an entry that was rewritten in the middle of its chain is refused', async () => {
  const dir = temporaryFolder()
  const clock = () => Date.parse('2026-01-01T00:00:00.000Z')
  const store = openStore({ dir, create: true, clock })
  await commit(store, creating('tenant', aTenant()))
  await commit(store, enrolment())
  for (let n = 0; n < 5; n += 1) await commit(store, only(note({ n })))
  const { origin } = store
  await store.close()
  const newest = copyOf(dir)
  tamper(newest, (db) => rewrite(db, origin, 6))
  assert.equal(
    (await findingIn(newest, clock)).finding,
    'nothing found',
    'the forgery is well made: at the end it passes',
  )
  tamper(dir, (db) => rewrite(db, origin, 2))
  const { finding, message } = await findingIn(dir)
  assert.equal(finding, 'at open')
  assert.match(message, /Audit chain acme\/live, entry 3: the entry does not follow/)
})
