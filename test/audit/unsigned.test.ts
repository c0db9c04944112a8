import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Database } from 'better-sqlite3'
import { restoreTrail } from '../../src/actions/audit/restore.ts'
import { verifySeqs } from '../../src/actions/audit/verify-range.ts'
import { checkpointer } from '../../src/actions/evidence/checkpoints.ts'
import type { EvidenceDeps } from '../../src/actions/evidence/evidence.ts'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import { SERVICE } from '../../src/audit/draft.ts'
import { fold } from '../../src/audit/merkle.ts'
import { unsignedTail } from '../../src/audit/unsigned.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { formatTimestamp } from '../../src/base/time.ts'
import { connect } from '../../src/store/sqlite/connection.ts'
import { DATA_FILE, openDatabase } from '../../src/store/sqlite/open.ts'
import { verifiedNow } from '../../src/store/sqlite/verifiers.ts'
import { run } from '../cli/program.ts'
import { temporaryFolder } from '../helpers.ts'
import { aDecision, commit, LIVE, note, only, START_MS } from '../store/drafts.ts'
import { openTrail } from '../store/open-trail.ts'
import { tamper } from '../store/used-folder.ts'
import { grow, rewriteFrom, snapshot, verdict } from './trail.ts'

const SYSTEM = '_system'
const HOURS = 3

/** A trail that grew for three hours, with a checkpoint every half minute. */
async function longTrail() {
  const dir = temporaryFolder()
  let nowMs = START_MS
  const trail = await openTrail(dir, () => nowMs)
  for (; nowMs < START_MS + HOURS * 3_600_000; nowMs += 30_000) await grow(trail, 4)
  const { logKeys } = trustOf(trail.store)
  await trail.close()
  return { dir, logKeys }
}
const kept = await longTrail()

const query = (db: Database, sql: string, ...values: unknown[]): void => void db.prepare(sql).run(...values)

/** Takes away what was signed after the first checkpoint, here and in `_system`, as who can write the file can. */
function unsign(db: Database): number {
  const first = db.prepare('SELECT min(size) FROM checkpoint WHERE chain = ?').pluck().get(LIVE) as number
  const last = db
    .prepare("SELECT min(seq) FROM entry WHERE chain = ? AND type = 'audit.checkpoint'")
    .pluck()
    .get(SYSTEM) as number
  query(db, 'DELETE FROM checkpoint WHERE chain = ? AND size > ?', LIVE, first)
  query(db, 'DELETE FROM checkpoint WHERE chain = ? AND size > ?', SYSTEM, last + 1)
  query(db, 'DELETE FROM tree_node')
  query(db, 'DELETE FROM entry WHERE chain = ? AND seq > ?', SYSTEM, last)
  return first
}

test('whoever takes the later checkpoints away and writes the entries anew is found, also without anchors', async () => {
  const dir = await snapshot(kept.dir)
  let first = 0
  tamper(dir, (db) => {
    first = unsign(db)
    rewriteFrom(db, LIVE, first + 3, { type: 'custom.forged' })
  })
  const { status, firstBadSeq, valid } = await verdict(dir, { ...kept, anchors: [] })
  assert.deepEqual({ status, firstBadSeq, valid }, { status: 'tampered', firstBadSeq: first, valid: false })
})

test('a service does not sign what was signed once and is not any more', async () => {
  const dir = await snapshot(kept.dir)
  tamper(dir, (db) => rewriteFrom(db, LIVE, unsign(db) + 3, { type: 'custom.forged' }))
  const faults: string[] = []
  const trail = await openTrail(dir, () => START_MS + HOURS * 3_600_000, 'nothing')
  await checkpointer({ ...trail, onFault: (chain) => void faults.push(chain) }).signAll()
  const { size } = (await trail.store.lastCheckpoint(LIVE)) ?? { size: 0 }
  assert.deepEqual([faults, size], [[LIVE], 5])
  await trail.close()
})

test('the head that _system records is believed only as far as _system is what was signed', async () => {
  const dir = await snapshot(kept.dir)
  const cut = 101
  tamper(dir, (db) => {
    query(db, 'DELETE FROM entry WHERE chain = ? AND seq >= ?', LIVE, cut)
    query(db, 'DELETE FROM checkpoint WHERE chain = ? AND size > ?', LIVE, cut)
    query(db, 'DELETE FROM tree_node WHERE chain = ?', LIVE)
    const rows = db
      .prepare(
        "SELECT seq, json, salt FROM section WHERE chain = ? AND name = 'data' AND json_extract(json, '$.checkpoints') IS NOT NULL",
      )
      .all(SYSTEM) as { seq: number; json: string; salt: Uint8Array }[]
    for (const { seq, json } of rows) {
      const data = JSON.parse(json) as { checkpoints: { chain: string; size: number }[] }
      const checkpoints = data.checkpoints.filter(({ chain, size }) => chain !== LIVE || size <= cut)
      query(
        db,
        "UPDATE section SET json = ? WHERE chain = ? AND seq = ? AND name = 'data'",
        canonicalJson({ ...data, checkpoints }),
        SYSTEM,
        seq,
      )
    }
  })
  const { valid } = await verdict(dir, { ...kept, anchors: [] })
  assert.equal(valid, false)
})

const CASES: [what: string, gapsMs: readonly number[], isTooMany: boolean][] = [
  ['nothing', [], false],
  ['one burst', [0, 0, 5, 9_000], false],
  ['nights that a machine slept through', [36_000_000, 36_000_000, 36_000_000], false],
  ['ten minutes', Array(20).fill(30_000), false],
  ['more than ten minutes', Array(21).fill(30_000), true],
  ['a decision every hour, eleven of them', Array(11).fill(3_600_000), true],
]
for (const [what, gapsMs, isTooMany] of CASES) {
  test(`decisions without a checkpoint, ${what}: ${isTooMany ? 'too many' : 'as a service may leave them'}`, () => {
    const next = unsignedTail()
    let ms = START_MS
    next({ type: 'gate.decision', ts: formatTimestamp(ms) })
    const answers = gapsMs.map((gap) => {
      ms += gap
      return next({ type: 'gate.decision', ts: formatTimestamp(ms) })
    })
    assert.equal(answers.at(-1) ?? false, isTooMany)
  })
}

test('commands on the host may append for years before a service runs', () => {
  const next = unsignedTail()
  const many = Array.from({ length: 5000 }, (_, day) => formatTimestamp(START_MS + day * 86_400_000))
  assert.equal(
    many.some((ts) => next({ type: 'key.created', ts })),
    false,
  )
})

test('_system without a signature for a thousand checkpoints of others is too long', () => {
  const next = unsignedTail()
  const answers = Array.from({ length: 1001 }, () => next({ type: 'audit.checkpoint', ts: formatTimestamp(START_MS) }))
  assert.deepEqual([answers.at(-2), answers.at(-1)], [false, true])
})

test('a head that somebody appends to _system, which is not signed there yet, hides none that is', async () => {
  const dir = await snapshot(kept.dir)
  const trail = await openTrail(dir, () => START_MS + HOURS * 3_600_000)
  const root = `sha256:${Buffer.from(fold([])).toString('hex')}`
  const forged = note({ checkpoints: [{ chain: LIVE, size: 0, root }] }, { chain: SYSTEM, type: 'audit.checkpoint' })
  await commit(trail.store, only(forged))
  await trail.close()
  tamper(dir, (db) => {
    for (const table of ['entry', 'section', 'checkpoint', 'tree_node'])
      query(db, `DELETE FROM ${table} WHERE chain = ?`, LIVE)
  })
  const { status } = await verdict(dir, { ...kept, anchors: [] })
  assert.equal(status, 'truncated')
})

test('the key file away for an hour, while the service goes on: it signs once it is back', async () => {
  let nowMs = START_MS
  const trail = await openTrail(temporaryFolder(), () => nowMs)
  await grow(trail, 3)
  for (const end = nowMs + 3_600_000; nowMs < end; nowMs += 30_000)
    await commit(trail.store, { guards: [], writes: [], entries: [aDecision('deny')] })
  await trail.checkpoints.signAll()
  assert.equal((await verifySeqs(trail.store, LIVE, undefined)).valid, true)
  await trail.close()
})

test('the key file away for an hour, and the service ended: nothing is signed until somebody answers for it, by a recorded reason', async () => {
  const dir = temporaryFolder()
  let nowMs = START_MS
  const away = await openTrail(dir, () => nowMs)
  await grow(away, 3)
  for (const end = nowMs + 3_600_000; nowMs < end; nowMs += 30_000)
    await commit(away.store, { guards: [], writes: [], entries: [aDecision('deny')] })
  await away.close()
  const trail = await openTrail(dir, () => nowMs)
  await trail.checkpoints.signAll()
  assert.match(trail.checkpoints.faults().get(LIVE) ?? '', /entry 4 was signed before.*audit restore/)
  assert.equal((await verifySeqs(trail.store, LIVE, undefined)).status, 'tampered')
  const tail = { chain: LIVE, first: 4, end: 124 }
  const args = ['audit', 'restore', '--data', dir, '--reason', 'the volume of the key was away']
  const { code, stdout, stderr } = await run(args)
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^UNSIGNED: audit chain acme\/live has 124 entries, and those from 4 on have no checkpoint/)
  assert.equal((await verifySeqs(trail.store, LIVE, undefined)).valid, true)
  const { items } = await trail.store.page({ chain: SYSTEM, order: 'desc', limit: 3, offset: 0 })
  const recorded = items.find(({ header }) => header.type === 'audit.restored')?.sections
  assert.deepEqual(JSON.parse(recorded?.find(({ name }) => name === 'data')?.json ?? ''), {
    reason: 'the volume of the key was away',
    discrepancies: [],
    unsealed: [],
    unsigned: [tail],
  })
  await commit(trail.store, { guards: [], writes: [], entries: [aDecision('deny')] })
  await trail.checkpoints.signAll()
  assert.deepEqual([trail.checkpoints.faults().size, (await trail.store.lastCheckpoint(LIVE))?.size], [0, 125])
  assert.equal((await run(args)).code, 1)
  await trail.close()
})

/** A folder in which the newest checkpoints of a chain were taken away, and something was done to its entries. */
async function takenAway(change: (db: Database) => void) {
  const dir = temporaryFolder()
  const before = await openTrail(dir)
  for (const entries of [4, 300, 1]) await grow(before, entries)
  await grow(before, 5, 'other/live')
  await before.close()
  tamper(dir, (db) => {
    query(db, 'DELETE FROM checkpoint WHERE chain = ? AND size > 5', LIVE)
    change(db)
  })
  const trail = await openTrail(dir, () => START_MS, 'nothing')
  await grow(trail, 1, 'other/live')
  return trail
}

const restoredIn = async ({ store }: EvidenceDeps): Promise<unknown[]> => {
  const { items } = await store.page({ chain: SYSTEM, order: 'desc', limit: 100, offset: 0 })
  return items
    .filter(({ header }) => header.type === 'audit.restored')
    .map(({ sections }) => JSON.parse(sections.find(({ name }) => name === 'data')?.json ?? '').unsigned)
}

test('a checkpoint that was taken away is not made anew until somebody answers for it, and keeps no other chain from its own', async () => {
  const trail = await takenAway(() => undefined)
  assert.match(
    trail.checkpoints.faults().get(LIVE) ?? 'signed',
    /entry 5 was signed before, and its signature is missing now/,
  )
  assert.equal((await trail.store.lastCheckpoint('other/live'))?.size, 7)
  const tail = { chain: LIVE, first: 5, end: 306 }
  const restored = await restoreTrail(trail, async () => trail, undefined, { reason: 'found out', actor: SERVICE })
  assert.deepEqual(restored, { discrepancies: [], unsigned: [tail], unsealed: [], left: [], refused: [] })
  assert.deepEqual(await restoredIn(trail), [[tail]])
  const { status, fault } = await verifySeqs(trail.store, LIVE, undefined)
  assert.deepEqual([status, fault], ['unanchored', null])
  await trail.close()
})

test('for entries that _system records otherwise nobody can answer: they stay unsigned, and what is wrong stays to be seen', async () => {
  const trail = await takenAway((db) => rewriteFrom(db, LIVE, 100, { type: 'custom.forged' }))
  const restored = await restoreTrail(trail, async () => trail, undefined, { reason: 'let it be', actor: SERVICE })
  assert.match(restored.refused.join(), /entry 5 is not what _system records as signed/)
  // That the log key's holder did not append them is recorded, and that somebody took them up so.
  assert.deepEqual([restored.unsigned, restored.unsealed.length, await restoredIn(trail)], [[], 1, [[]]])
  await grow(trail, 300, 'other/live')
  assert.equal((await trail.store.lastCheckpoint(LIVE))?.size, 5)
  assert.equal((await verifySeqs(trail.store, LIVE, undefined)).status, 'tampered')
  await trail.close()
})

test('what others append and sign while a chain is verified makes no fault', async () => {
  const dir = temporaryFolder()
  const trail = await openTrail(dir)
  await grow(trail, 300)
  const before = await snapshot(dir, trail.store)
  await grow(trail, 300)
  await trail.store.scrub()
  const { origin } = trail.store
  const { logKeys } = trustOf(trail.store)
  await trail.close()
  const connection = connect(openDatabase(before, { create: false }))
  const request = {
    chain: LIVE,
    sections: true,
    logKeys,
    anchor: null,
    anchoredSize: 0,
    revoked: new Set<string>(),
    sealKey: undefined,
    nowMs: 0,
  }
  const found = verifiedNow(connection, origin, request, () =>
    tamper(before, (db) => {
      db.prepare('ATTACH ? AS later').run(join(dir, DATA_FILE))
      for (const table of ['chain', 'shared_text', 'audit_entry', 'checkpoint', 'tree_node'])
        db.exec(
          `INSERT OR IGNORE INTO ${table} (${columnsOf(db, table)}) SELECT ${columnsOf(db, table)} FROM later.${table}`,
        )
      db.exec('DETACH later')
    }),
  )
  connection.db.close()
  assert.deepEqual([found.status, found.fault], ['unanchored', null])
})

const columnsOf = (db: Database, table = ''): string =>
  (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name).join()

test('where the log keys are given, a chain of which they signed nothing is unsigned, however young', async () => {
  const trail = await openTrail(temporaryFolder())
  await grow(trail, 3)
  const { logKeys } = trustOf(trail.store)
  const revoked = new Set(logKeys.map(({ publicKey }) => publicKey))
  const found = async (inputs: object) =>
    (await verifySeqs(trail.store, LIVE, undefined, { logKeys, ...inputs })).status
  assert.deepEqual(
    [
      await found({}),
      await found({ isPinned: true }),
      await found({ revoked }),
      await found({ isPinned: true, revoked }),
    ],
    ['unanchored', 'unanchored', 'unanchored', 'unsigned'],
  )
  await trail.close()
})
