import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Database } from 'better-sqlite3'
import { coverOf, coverRanges } from '../../src/audit/merkle.ts'
import type { RangeStatus } from '../../src/audit/range.ts'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import { LIVE } from '../store/drafts.ts'
import { changesBy } from '../store/old-tables.ts'
import { openTrail } from '../store/open-trail.ts'
import { tamper } from '../store/used-folder.ts'
import { anchorsOf, grow, keptTrail, LENGTH, resign, rewriteFrom, snapshot, verdict } from './trail.ts'

const kept = await keptTrail()
const SYSTEM = '_system'
/** Sizes of the checkpoints of `acme/live`. */
const SIZES = [41, 341, 342, 601]

interface Attack {
  /** Attack, and any key that the attacker holds. */
  name: string
  change(dir: string): void | Promise<void>
  /** Chain to verify; `acme/live` when absent. */
  chain?: string
  status: RangeStatus
  firstBadSeq: number | null
  /** Status found by a verifier that keeps no anchors, where it differs. */
  alone?: RangeStatus
}

const edit =
  (sql: string, ...values: unknown[]) =>
  (dir: string): void =>
    tamper(dir, (db) => assert.ok(changesBy(db, sql, ...values) > 0, 'something was changed'))
const inFile = (change: (db: Database) => void) => (dir: string) => tamper(dir, change)
const forged = { type: 'custom.forged' }

const ATTACKS: Attack[] = [
  {
    name: 'a header edited',
    change: edit(
      "UPDATE entry SET header = replace(header, 'custom.note', 'custom.nose') WHERE chain = ? AND seq = 100",
      LIVE,
    ),
    status: 'tampered',
    firstBadSeq: 100,
  },
  {
    name: 'a section edited',
    change: edit("UPDATE section SET json = '{}' WHERE chain = ? AND seq = 500", LIVE),
    status: 'tampered',
    firstBadSeq: 500,
  },
  {
    name: 'a section deleted, which no command erased',
    change: edit('DELETE FROM section WHERE chain = ? AND seq = 500', LIVE),
    status: 'tampered',
    firstBadSeq: 500,
  },
  {
    name: 'everything recomputed from an entry to the end',
    change: inFile((db) => rewriteFrom(db, LIVE, 100, forged)),
    status: 'tampered',
    firstBadSeq: SIZES[0] ?? 0,
  },
  {
    name: 'everything recomputed to the end, past the last checkpoint',
    change: inFile((db) => rewriteFrom(db, LIVE, 597, forged)),
    status: 'tampered',
    firstBadSeq: SIZES[2] ?? 0,
  },
  {
    name: 'an entry deleted in the middle',
    change: edit('DELETE FROM entry WHERE chain = ? AND seq = 200', LIVE),
    status: 'broken-link',
    firstBadSeq: 200,
  },
  {
    name: 'two entries changed for one another',
    change: inFile((db) => {
      const move = db.prepare('UPDATE entry SET seq = ? WHERE chain = ? AND seq = ?')
      for (const [from, to] of [
        [200, 100_000],
        [201, 200],
        [100_000, 201],
      ])
        move.run(to, LIVE, from)
    }),
    status: 'tampered',
    firstBadSeq: 200,
  },
  {
    name: 'the newest entries cut off',
    change: edit('DELETE FROM entry WHERE chain = ? AND seq >= 590', LIVE),
    status: 'truncated',
    firstBadSeq: 590,
  },
  {
    name: 'the newest entries cut off, with the checkpoints that say so',
    change: inFile((db) => {
      db.prepare('DELETE FROM entry WHERE chain = ? AND seq >= 342').run(LIVE)
      db.prepare('DELETE FROM checkpoint WHERE chain = ? AND size > 342').run(LIVE)
      db.prepare('DELETE FROM tree_node WHERE chain = ? AND level > 8').run(LIVE)
    }),
    status: 'truncated',
    firstBadSeq: 342,
  },
  {
    name: 'the first entries cut off',
    change: edit('DELETE FROM entry WHERE chain = ? AND seq < 41', LIVE),
    status: 'broken-link',
    firstBadSeq: 0,
  },
  {
    name: 'a whole tenant dropped',
    change: inFile((db) => {
      for (const table of ['entry', 'checkpoint', 'tree_node'])
        db.prepare(`DELETE FROM ${table} WHERE chain = 'other/live'`).run()
    }),
    chain: 'other/live',
    status: 'truncated',
    firstBadSeq: 0,
  },
  {
    name: 'an old backup put in the place of the file',
    change(dir) {
      cpSync(join(kept.backup, DATA_FILE), join(dir, DATA_FILE))
    },
    status: 'rollback',
    firstBadSeq: 341,
    alone: 'unanchored',
  },
  {
    name: 'an old backup gone on with',
    async change(dir) {
      cpSync(join(kept.backup, DATA_FILE), join(dir, DATA_FILE))
      const trail = await openTrail(dir)
      await grow(trail, LENGTH)
      await trail.close()
    },
    status: 'forked',
    firstBadSeq: 0,
    alone: 'unanchored',
  },
  {
    name: 'everything recomputed and signed again with the stolen key',
    async change(dir) {
      tamper(dir, (db) => rewriteFrom(db, LIVE, 500, forged))
      await resign(dir, LIVE, 342)
    },
    status: 'forked',
    firstBadSeq: 0,
    // `_system` still holds the head from before.
    alone: 'tampered',
  },
  {
    name: 'a checkpoint signed with another key',
    change: inFile((db) => {
      const other = db.prepare('SELECT note FROM checkpoint WHERE chain = ? AND size = 41').pluck().get(LIVE) as string
      db.prepare('UPDATE checkpoint SET note = ? WHERE chain = ? AND size = 342').run(
        other.replace('\n41\n', '\n342\n'),
        LIVE,
      )
    }),
    status: 'tampered',
    firstBadSeq: 341,
  },
  {
    name: 'the newest checkpoint taken away',
    change: edit('DELETE FROM checkpoint WHERE chain = ? AND size = ?', LIVE, SIZES[3]),
    status: 'tampered',
    firstBadSeq: SIZES[2] ?? 0,
  },
  {
    name: 'all checkpoints taken away',
    change: edit('DELETE FROM checkpoint'),
    status: 'tampered',
    firstBadSeq: 0,
  },
  {
    name: 'a stored node of the tree changed',
    change: edit('UPDATE tree_node SET hash = zeroblob(32) WHERE chain = ? AND level = 8 AND place = 1', LIVE),
    status: 'tampered',
    firstBadSeq: SIZES[2] ?? 0,
  },
  {
    name: 'a stored node of the tree deleted',
    change: edit('DELETE FROM tree_node WHERE chain = ? AND level = 8 AND place = 0', LIVE),
    status: 'tampered',
    firstBadSeq: SIZES[0] ?? 0,
  },
  {
    name: 'the heads in `_system` rewritten',
    change: inFile((db) => {
      const seq = db
        .prepare("SELECT max(seq) FROM entry WHERE chain = '_system' AND type = 'audit.checkpoint'")
        .pluck()
        .get()
      rewriteFrom(db, SYSTEM, seq as number, forged)
    }),
    chain: SYSTEM,
    // The last entry of `_system` is signed with the next checkpoint only, but it has a type that the service has not.
    status: 'unlawful',
    firstBadSeq: 6,
  },
  {
    name: 'an entry put behind a gap that nobody can count through',
    change: edit(
      `INSERT INTO audit_entry (at, ts, type, id, hash, prev, commits, salts)
        SELECT at + 8000000000, ts, type, randomblob(16), hash, prev, commits, salts FROM audit_entry
          WHERE chain = (SELECT number FROM chain WHERE name = ?) AND seq = 7`,
      LIVE,
    ),
    status: 'broken-link',
    firstBadSeq: LENGTH,
  },
]

test('nodes of the old tree put back hide no rewritten entries', async () => {
  const dir = await snapshot(kept.dir)
  const trail = await openTrail(dir)
  await grow(trail, 1)
  const size = LENGTH + 1
  const hashes = await trail.store.treeHashes(LIVE, coverRanges(0, size))
  const [, ...anchors] = await anchorsOf(trail.store)
  await trail.close()
  tamper(dir, (db) => {
    for (const table of ['checkpoint', 'tree_node']) db.prepare(`DELETE FROM ${table} WHERE chain = ?`).run(LIVE)
    rewriteFrom(db, LIVE, 100, forged)
    const put = db.prepare('INSERT INTO tree_node (chain, level, place, hash) VALUES (?, ?, ?, ?)')
    for (const [i, { level, index }] of coverOf(0, size).entries()) put.run(LIVE, level, index, hashes[i])
  })
  assert.equal((await verdict(dir, { ...kept, anchors })).status, 'forked')
  assert.equal((await verdict(dir, { ...kept, anchors: [] })).status, 'tampered')
  rmSync(dir, { recursive: true })
})

test('a node in the place of a leaf counts for nothing: a leaf is the hash of its entry', async () => {
  const dir = await snapshot(kept.dir)
  tamper(dir, (db) => db.prepare('INSERT INTO tree_node VALUES (?, 0, 40, zeroblob(32))').run(LIVE))
  const trail = await openTrail(dir)
  const [forged] = await trail.store.treeHashes(LIVE, [{ begin: 0, end: 41 }])
  await trail.close()
  const before = await openTrail(await snapshot(kept.dir))
  const [root] = await before.store.treeHashes(LIVE, [{ begin: 0, end: 41 }])
  await before.close()
  assert.deepEqual(forged, root)
})

test('the trail that is attacked below is whole, and wholly anchored', async () => {
  for (const chain of [LIVE, 'other/live']) {
    const { valid, status, fault } = await verdict(kept.dir, kept, { chain })
    assert.deepEqual({ chain, valid, status, fault }, { chain, valid: true, status: 'ok', fault: null })
  }
  // The entry that records the last checkpoint is after it.
  const system = await verdict(kept.dir, kept, { chain: SYSTEM })
  assert.deepEqual([system.status, system.unanchoredEntries], ['unanchored', 1])
})

for (const { name, change, chain = LIVE, status, firstBadSeq, alone = status } of ATTACKS) {
  test(`${status}: ${name}`, async () => {
    const dir = await snapshot(kept.dir)
    await change(dir)
    const found = await verdict(dir, kept, { chain })
    assert.deepEqual(
      { status: found.status, firstBadSeq: found.firstBadSeq, valid: found.valid },
      { status, firstBadSeq, valid: status === 'unanchored' },
      found.fault ?? '',
    )
    const without = await verdict(dir, { ...kept, anchors: [] }, { chain })
    assert.equal(without.status, alone, without.fault ?? '')
    rmSync(dir, { recursive: true })
  })
}
