import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Database } from 'better-sqlite3'
import fc from 'fast-check'
import { cutFinder } from '../../src/actions/approvals/spans.ts'
import { exportRange } from '../../src/actions/audit/export-range.ts'
import { MIN_AGE_DAYS, type Prunable, prunable, prune } from '../../src/actions/audit/prune.ts'
import { verifyRange, verifySeqs } from '../../src/actions/audit/verify-range.ts'
import { exportBundle } from '../../src/actions/evidence/evidence.ts'
import { rotateLogKey } from '../../src/actions/evidence/signing-key-changes.ts'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import { sectionValue } from '../../src/audit/entry.ts'
import type { RangeStatus } from '../../src/audit/range.ts'
import { digestOf } from '../../src/base/digest.ts'
import type { GateError } from '../../src/base/errors.ts'
import { DAY_MS } from '../../src/base/time.ts'
import { MANIFEST_FILE } from '../../src/evidence/export.ts'
import { verifyBundle } from '../../src/evidence/verify.ts'
import { verifyExport } from '../../src/evidence/verify-export.ts'
import { exportFolder, readExport } from '../../src/files/export-folder.ts'
import { signingKeyFile } from '../../src/files/signing-key.ts'
import { recordOfStop } from '../../src/killswitch/killswitch.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { change } from '../../src/store/records.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { verifiedHere } from '../evidence/bundles.ts'
import { temporaryFolder } from '../helpers.ts'
import {
  aDecision,
  aKey,
  anApproval,
  aStop,
  aTenant,
  changing,
  commit,
  creating,
  LIVE,
  START_MS,
} from '../store/drafts.ts'
import { changesBy } from '../store/old-tables.ts'
import { openTrail } from '../store/open-trail.ts'
import { tamper } from '../store/used-folder.ts'
import { actingOn } from './acting.ts'
import { interrupted, interruptedStore } from './interrupted.ts'
import { grow, snapshot, verdict } from './trail.ts'

const HOST = { kind: 'host', id: 'host:0' } as const
const SYSTEM = '_system'
const DAY = 86_400_000
const LATER_MS = START_MS + 300 * DAY
const RECORD = { archive: { first: 0, manifest: digestOf('the archive') }, reason: 'kept for a year' }

type Trail = Awaited<ReturnType<typeof openTrail>>

/** A trail of a year ago with each kind of record, an approval that is over, and ten days of entries since. */
async function oldTrail() {
  const dir = temporaryFolder()
  const time = { ms: START_MS }
  const trail = await openTrail(dir, () => time.ms)
  const { store, checkpoints } = trail
  await commit(store, creating('tenant', aTenant()))
  const key = aKey({ identity: 'old' })
  await commit(store, creating('key', key))
  const stop = aStop({ level: 'L1', patterns: ['email.*'] })
  await commit(store, creating('switch', stop))
  const acting = actingOn(trail)
  const [bot, ann] = [await acting.key({ roles: ['agent'] }), await acting.key({ roles: ['approver'] })]
  const { approvalId } = await acting.ask(bot, 5000)
  await acting.approve(ann, approvalId ?? assert.fail(), 'ann')
  assert.equal((await acting.ask(bot, 5000)).decision, 'allow')
  await grow(trail, 5, 'other/live')
  for (let day = 0; day < 6; day += 1) {
    await grow(trail, 300)
    time.ms += DAY
  }
  await commit(store, changing(change('key', key, { revokedAt: '2026-01-07T00:00:00.000Z' }), 'key.revoked'))
  await grow(trail, 5)
  time.ms = LATER_MS
  await grow(trail, 20)
  await checkpoints.signAll()
  return { dir, time, trail }
}

const beforeDay = (day: number): number => START_MS + day * DAY
const before = (day: number) => ({ beforeMs: beforeDay(day) })

async function pruned(trail: Trail, beforeMs = beforeDay(100), chain = LIVE): Promise<Prunable> {
  const range = await prunable(trail, chain, { beforeMs })
  await prune(trail, HOST, range, RECORD)
  return range
}

/** The store as a fresh start finds it, with every check. */
async function restarted<T>(dir: string, work: (store: Trail['store']) => Promise<T>): Promise<T> {
  const store = openStore({ dir, create: false, clock: () => LATER_MS })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

test('the oldest entries are gone, and what is left verifies, is gone on with and starts again', async () => {
  const { dir, trail } = await oldTrail()
  const before = trail.store.state()
  const { end, first } = await pruned(trail)
  assert.equal(first === 0 && end > 1500, true, `${first} to ${end}`)
  const { status, valid, entriesChecked } = await verifySeqs(trail.store, LIVE, undefined)
  const length = await lengthOf(trail.store, LIVE)
  assert.deepEqual(
    { status, valid, entriesChecked },
    { status: 'unanchored', valid: true, entriesChecked: length - end },
  )
  await grow(trail, 600)
  assert.equal((await verifySeqs(trail.store, LIVE, undefined)).valid, true)
  await trail.close()
  await restarted(dir, async (store) => {
    const { keys, switches, tenants } = store.state()
    assert.deepEqual(
      { keys: new Map(keys), switches: switches.map(recordOfStop), tenants: [...tenants] },
      { keys: new Map(before.keys), switches: before.switches.map(recordOfStop), tenants: [...before.tenants] },
    )
    assert.equal((await store.page({ chain: LIVE, order: 'asc', limit: 1, offset: 0 })).items[0]?.header.seq, end)
    assert.equal(await store.seqNotBefore(LIVE, ''), end)
    assert.deepEqual(await store.entriesFrom(LIVE, 0, 1).then((entries) => entries[0]?.header.seq), end)
  })
})

test('the archive verifies by itself, and leads to the checkpoint at which the chain begins now', async () => {
  const { trail } = await oldTrail()
  const { first, end } = await prunable(trail, LIVE, before(100))
  const out = join(temporaryFolder(), 'archive')
  const folder = exportFolder(out)
  folder.writeText(MANIFEST_FILE, JSON.stringify(await exportRange(trail, LIVE, { first, end }, folder)))
  await pruned(trail)
  const result = await verifyExport(readExport(out), { trust: trustOf(trail.store), nowMs: LATER_MS })
  assert.equal(result.verdict, 'valid', JSON.stringify(result.reasons))
  await trail.close()
})

test('bundles of what was pruned and of what is left are valid', async () => {
  const { trail } = await oldTrail()
  const ids = { old: aDecision('deny'), young: aDecision('deny') }
  await commit(trail.store, { guards: [], writes: [], entries: [ids.young] })
  const young = await exportBundle(trail, LIVE, ids.young.decision.id)
  const [decided] = (await trail.store.entriesFrom(LIVE, 0, 50)).filter(({ header }) => header.type === 'gate.decision')
  const old = await exportBundle(trail, LIVE, decided?.header.id ?? '')
  await pruned(trail)
  for (const bundle of [old, young, await exportBundle(trail, LIVE, ids.young.decision.id)]) {
    const trust = trustOf(trail.store)
    assert.equal(verifyBundle(bundle, { trust, nowMs: LATER_MS }).verdict, 'valid')
    const here = await verifiedHere(trail, bundle)
    assert.deepEqual([here.valid, here.reasons], [true, []])
  }
  await trail.close()
})

test('a bundle is not refuted by a prune that comes after any read of its verification', async () => {
  for (let read = 1, isPruned = true; isPruned; read += 1) {
    const { trail } = await oldTrail()
    const { store } = trail
    const approved = (await store.entriesFrom(LIVE, 0, 50)).find(
      (entry) => sectionValue(entry, 'grounds')?.decidedBy === 'approval',
    )
    const bundle = await exportBundle(trail, LIVE, approved?.header.id ?? '')
    const pruning = interruptedStore(store, read, () => pruned(trail))
    const { valid, reasons } = await verifiedHere({ ...trail, store: pruning }, bundle)
    assert.deepEqual({ valid, reasons }, { valid: true, reasons: [] }, `after ${read} reads`)
    isPruned = (await store.pruned(LIVE)) !== undefined
    assert.equal(isPruned || read > 10, true, `${read} reads`)
    await trail.close()
  }
})

const DAYS: [what: string, startDate: string, endDate: string, status: RangeStatus, valid: boolean][] = [
  ['all pruned', '2026-01-01', '2026-01-02', 'pruned', false],
  ['partly pruned', '2026-01-05', '2026-12-31', 'pruned', false],
  ['after what was pruned, without entries', '2026-02-01', '2026-02-02', 'empty', true],
  ['all left', '2026-02-01', '2026-12-31', 'unanchored', true],
]
test('days of which entries were pruned cannot be verified any more, and say so', async (t) => {
  const { trail } = await oldTrail()
  await pruned(trail)
  for (const [what, startDate, endDate, status, valid] of DAYS) {
    await t.test(what, async () => {
      const found = await verifyRange(trail, LIVE, { startDate, endDate })
      assert.deepEqual([found.status, found.valid], [status, valid], found.fault ?? '')
    })
  }
  await trail.close()
})

test('the system chain is pruned too, and still knows the heads of chains that have been idle since', async () => {
  const { dir, trail: again } = await oldTrail()
  const { end } = await pruned(again, beforeDay(100), SYSTEM)
  assert.equal(end > 5, true)
  for (const chain of [SYSTEM, LIVE]) {
    const found = await verifySeqs(again.store, chain, undefined)
    assert.equal(found.valid, true, `${chain}: ${found.fault}`)
  }
  await again.close()
  await restarted(dir, async (store) => assert.equal(store.state().tenants.size, 1))
  tamper(dir, (db) => {
    for (const table of ['entry', 'section', 'checkpoint', 'tree_node'])
      db.prepare(`DELETE FROM ${table} WHERE chain = 'other/live'`).run()
    run("DELETE FROM api_key WHERE id = 'key_other_live'")(db)
  })
  await restarted(dir, async (store) => {
    assert.equal((await store.chainsEver()).includes('other/live'), true)
    assert.equal((await verifySeqs(store, 'other/live', undefined)).status, 'truncated')
  })
})

test('a verification is not misled by a prune of the system chain that comes after any of its reads', async () => {
  for (let read = 1; read <= 8; read += 1) {
    const dir = temporaryFolder()
    const time = { ms: START_MS }
    const trail = await openTrail(dir, () => time.ms)
    const acting = actingOn(trail)
    assert.equal((await acting.ask(await acting.key({ roles: ['admin'] }), 5)).decision, 'allow')
    await trail.checkpoints.signAll()
    time.ms = LATER_MS
    await grow(trail, 20)
    const { makeVerifier, after, wasInterrupted } = interrupted()
    const reading = openStore({ dir, create: false, clock: () => time.ms, makeVerifier })
    after(read, async () => assert.ok((await pruned(trail, beforeDay(100), SYSTEM)).end > 2))
    const { valid, fault } = await verifySeqs(reading, LIVE, undefined)
    assert.deepEqual({ valid, fault }, { valid: true, fault: null }, `after ${read} reads`)
    assert.ok(wasInterrupted() || read > 4)
    await reading.close()
    await trail.close()
  }
})

test('the system chain that is pruned again keeps the newest head of each chain', async () => {
  const dir = temporaryFolder()
  const time = { ms: START_MS }
  const trail = await openTrail(dir, () => time.ms)
  for (const round of ['first', 'again']) {
    await grow(trail, 5, 'other/live')
    time.ms += 200 * DAY
    // The newest entry of a chain is never pruned.
    await grow(trail, 5)
    const { first, end } = await pruned(trail, time.ms - 100 * DAY, SYSTEM)
    assert.equal(end > first, true, round)
  }
  const { logKeys } = trustOf(trail.store)
  await trail.close()
  tamper(dir, (db) => {
    run("DELETE FROM entry WHERE chain = 'other/live' AND seq >= 6")(db)
    run("DELETE FROM checkpoint WHERE chain = 'other/live' AND size > 6")(db)
  })
  const { status, fault } = await verdict(dir, { logKeys, anchors: [] }, { chain: 'other/live' })
  assert.deepEqual([status, fault], ['truncated', '_system records 11 entries, and there are 6'])
})

test('what is pruned again goes on from the record before', async () => {
  const { dir, trail } = await oldTrail()
  const one = await pruned(trail, beforeDay(2))
  const two = await pruned(trail, beforeDay(100))
  assert.deepEqual([two.first, two.end > one.end], [one.end, true])
  assert.equal((await verifySeqs(trail.store, LIVE, undefined)).valid, true)
  await trail.close()
  await restarted(dir, async (store) => assert.equal(store.state().keys.size, 5))
})

test('a record is good after the log key that signed it was followed by another', async () => {
  const { dir, trail } = await oldTrail()
  await pruned(trail)
  await rotateLogKey(trail, signingKeyFile(join(dir, 'signing-key.pem')), HOST)
  await grow(trail, 10)
  assert.equal((await verifySeqs(trail.store, LIVE, undefined)).valid, true)
  await trail.close()
  await restarted(dir, async (store) => assert.equal((await verifySeqs(store, LIVE, undefined)).valid, true))
})

test('nothing younger than what policies may ask for is pruned', async () => {
  const { trail } = await oldTrail()
  const tooNear = prunable(trail, LIVE, { beforeMs: LATER_MS - MIN_AGE_DAYS * DAY_MS + 1 })
  await assert.rejects(tooNear, (error: GateError) => error.code === 'invalid_request')
  await trail.close()
})

test('nothing is pruned whose record could not be read again', async () => {
  const { trail } = await oldTrail()
  const range = await prunable(trail, LIVE, before(100))
  const tooLong = prune(trail, HOST, range, { ...RECORD, reason: 'a'.repeat(1025) })
  await assert.rejects(tooLong, (error: GateError) => error.code === 'invalid_request')
  assert.equal((await verifySeqs(trail.store, LIVE, undefined)).valid, true)
  await trail.close()
})

test('an approval that is open stays whole', async () => {
  const time = { ms: START_MS }
  const again = await openTrail(temporaryFolder(), () => time.ms)
  await grow(again, 10)
  const open = anApproval()
  await commit(again.store, creating('approval', open))
  await grow(again, 300)
  time.ms = LATER_MS
  await grow(again, 10)
  const { end } = await prunable(again, LIVE, before(100))
  const [entry] = await again.store.changesOf('approval', open.id)
  assert.equal(end > 0 && end <= (entry?.header.seq ?? 0), true, `${end}, ${entry?.header.seq}`)
  await again.close()
})

test('nothing is pruned that some sink does not have yet', async () => {
  const { trail } = await oldTrail()
  const { end: all } = await prunable(trail, LIVE, before(100))
  const own = (await trail.store.checkpointsAfter(0, 100)).filter(({ chain }) => chain === LIVE)
  const [second, newest] = [own[1] ?? assert.fail(), own.at(-1) ?? assert.fail()]
  const deliveries: [sink: string, number: number, end: number][] = [
    ['file', 0, 0],
    ['webhook', newest.number, 0],
    ['file', second.number, second.size],
    ['file', newest.number, all],
  ]
  for (const [sink, number, end] of deliveries) {
    const delivery = { sink, number, at: '2026-01-01T00:00:00.000Z' }
    await trail.store.commit({ guards: [], writes: [{ kind: 'anchored', delivery }], entries: [] })
    const range = await prunable(trail, LIVE, before(100))
    assert.deepEqual([range.first, range.end], [0, end], `${sink} has ${number}`)
  }
  assert.equal(second.size < all, true)
  await trail.close()
})

test('entries that were altered are neither archived nor deleted', async () => {
  const { dir, trail } = await oldTrail()
  await trail.close()
  tamper(dir, (db) => db.prepare("UPDATE section SET json = '{}' WHERE chain = ? AND seq = 500").run(LIVE))
  const again = await openTrail(dir, () => LATER_MS)
  await assert.rejects(
    prunable(again, LIVE, before(100)),
    (error: GateError) => error.code === 'audit_unavailable' && error.message.includes('does not match its signatures'),
  )
  await again.close()
})

test('of two who prune at once, one is refused, and the chain is whole', async () => {
  const { dir, trail } = await oldTrail()
  const other = await openTrail(dir, () => LATER_MS)
  const range = await prunable(trail, LIVE, before(100))
  const done = await Promise.allSettled([prune(trail, HOST, range, RECORD), prune(other, HOST, range, RECORD)])
  assert.deepEqual(done.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.equal((await verifySeqs(trail.store, LIVE, undefined)).valid, true)
  await other.close()
  await trail.close()
})

test('who dies while pruning leaves a whole chain, which is pruned further later', async () => {
  const dir = temporaryFolder()
  const time = { ms: START_MS }
  const trail = await openTrail(dir, () => time.ms)
  for (let i = 0; i < 6; i += 1) await grow(trail, 2000)
  time.ms = LATER_MS
  await grow(trail, 10)
  const range = await prunable(trail, LIVE, before(100))
  const died = prune(trail, HOST, range, RECORD, () => {
    throw new Error('killed')
  })
  await assert.rejects(died, /killed/)
  await trail.close()
  const again = await openTrail(dir, () => time.ms)
  const left = await again.store.pruned(LIVE)
  assert.equal((left?.size ?? 0) > 0 && (left?.size ?? 0) < range.end, true, `${left?.size} of ${range.end}`)
  assert.equal((await verifySeqs(again.store, LIVE, undefined)).valid, true)
  assert.deepEqual([(await pruned(again)).first, (await again.store.pruned(LIVE))?.size], [left?.size, range.end])
  assert.equal((await verifySeqs(again.store, LIVE, undefined)).valid, true)
  await again.close()
})

const SPANS = fc.array(
  fc.tuple(fc.nat(60), fc.nat(20)).map(([first, length]) => ({ id: '', first, last: first + length })),
  { maxLength: 12 },
)
test('a cut parts no approval, and goes back no further than it must', () => {
  fc.assert(
    fc.property(SPANS, fc.nat(90), (spans, size) => {
      const parts = (at: number): boolean => spans.some(({ first, last }) => first < at && at <= last)
      const cut = cutFinder(spans)(size)
      assert.equal(cut <= size && !parts(cut), true)
      for (let at = cut + 1; at <= size; at += 1) assert.equal(parts(at), true, `${at} would do`)
    }),
  )
})

interface Attack {
  name: string
  change(db: Database): void
  status: RangeStatus
}
const run =
  (sql: string, ...values: unknown[]) =>
  (db: Database): void =>
    assert.ok(changesBy(db, sql, ...values) > 0, sql)
const recordOf = (db: Database) =>
  db.prepare("SELECT seq FROM entry WHERE chain = ? AND type = 'audit.prune'").pluck().get(LIVE) as number
const firstOf = (db: Database) => db.prepare('SELECT size FROM pruned WHERE chain = ?').pluck().get(LIVE) as number

const ATTACKS: Attack[] = [
  {
    name: 'more of the oldest entries deleted',
    change: (db) => run('DELETE FROM entry WHERE chain = ? AND seq < ?', LIVE, firstOf(db) + 3)(db),
    status: 'broken-link',
  },
  {
    name: 'more of the oldest entries deleted, and the table altered',
    change(db) {
      const size = firstOf(db) + 3
      run('DELETE FROM entry WHERE chain = ? AND seq < ?', LIVE, size)(db)
      run('UPDATE pruned SET size = ? WHERE chain = ?', size, LIVE)(db)
    },
    status: 'tampered',
  },
  { name: 'the table emptied', change: run('DELETE FROM pruned'), status: 'broken-link' },
  {
    name: 'a node of the frontier altered',
    change: (db) => run('UPDATE tree_node SET hash = zeroblob(32) WHERE chain = ? AND place = 0', LIVE)(db),
    status: 'tampered',
  },
  {
    name: 'the content of the record altered',
    change: (db) =>
      run(
        "UPDATE section SET json = replace(json, 'kept for a year', 'kept for a day') WHERE chain = ? AND seq = ?",
        LIVE,
        recordOf(db),
      )(db),
    status: 'tampered',
  },
  {
    name: 'the record erased',
    change: (db) => run("DELETE FROM section WHERE chain = ? AND seq = ? AND name = 'data'", LIVE, recordOf(db))(db),
    status: 'tampered',
  },
]
test('who alters what pruning left is found', async (t) => {
  const { dir, trail } = await oldTrail()
  await pruned(trail)
  await trail.checkpoints.signAll()
  const { logKeys } = trustOf(trail.store)
  const copy = await snapshot(dir, trail.store)
  await trail.close()
  for (const { name, change: alter, status } of ATTACKS) {
    await t.test(name, async () => {
      const altered = await snapshot(copy)
      tamper(altered, alter)
      const store = openStore({ dir: altered, create: false, clock: () => LATER_MS, check: 'nothing' })
      const found = await verifySeqs(store, LIVE, undefined, { logKeys })
      await store.close()
      assert.equal(found.status, status, found.fault ?? '')
      assert.throws(
        () => openStore({ dir: altered, create: false, clock: () => LATER_MS }),
        'and no service starts on it',
      )
    })
  }
})

test('a record that the log key did not sign lets nobody delete anything', async () => {
  const { dir, trail } = await oldTrail()
  const thief = await openTrail(temporaryFolder(), () => LATER_MS)
  const range = await prunable(trail, LIVE, before(100))
  // With all that the file holds, and another key.
  const forger = {
    ...trail,
    keyring: {
      ...trail.keyring,
      logKey: async () => ({ ...(await thief.keyring.logKey()), id: (await trail.keyring.logKey()).id }),
    },
  }
  await prune(forger, HOST, range, RECORD)
  assert.equal((await verifySeqs(trail.store, LIVE, undefined)).status, 'tampered')
  await trail.close()
  await thief.close()
  assert.throws(() => openStore({ dir, create: false, clock: () => LATER_MS }), /not signed by the log key/)
})

test('a record that a pruned entry made is still held to what it said', async () => {
  const { dir, trail } = await oldTrail()
  await pruned(trail)
  await trail.close()
  tamper(dir, (db) => db.prepare('UPDATE api_key SET body = replace(body, \'"agent"\', \'"owner"\')').run())
  assert.throws(
    () => openStore({ dir, create: false, clock: () => LATER_MS }),
    /differs from what the audit chain records/,
  )
})
