import { cpSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { verifySeqs } from '../../src/actions/audit/verify-range.ts'
import type { EvidenceDeps } from '../../src/actions/evidence/evidence.ts'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import { hashHeader } from '../../src/audit/entry.ts'
import type { RangeVerification } from '../../src/audit/range.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { parseDigest } from '../../src/base/digest.ts'
import { type Anchor, claimOf, headsOf } from '../../src/evidence/anchor.ts'
import type { LogKey } from '../../src/evidence/trust.ts'
import { sealKeysAt } from '../../src/files/signing-key.ts'
import { connect } from '../../src/store/sqlite/connection.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../helpers.ts'
import { aDecision, agentOf, commit, enrolment, LIVE, note, START_MS } from '../store/drafts.ts'
import { openTrail } from '../store/open-trail.ts'
import { copyOf, tamper } from '../store/used-folder.ts'

/** Notes of `acme/live` before each of its checkpoints. Its entries are one more: the genesis. */
export const BATCHES = [40, 300, 1, 259]
export const LENGTH = 1 + BATCHES.reduce((sum, n) => sum + n)

/** Appends so many entries, of which the first one ever makes the agent and each third one is a decision, and has them signed. */
export async function grow({ store, checkpoints }: EvidenceDeps, entries: number, chain = LIVE): Promise<void> {
  const isNew = !store.state().keys.has(agentOf(chain).id)
  if (isNew) await commit(store, enrolment(chain))
  const drafts = Array.from({ length: isNew ? entries - 1 : entries }, (_, n) =>
    n % 3 === 0 && chain === LIVE ? aDecision('deny') : note({ n }, { chain }),
  )
  await commit(store, { guards: [], writes: [], entries: drafts })
  await checkpoints.signAll()
}

/** Original trail, with its keys, anchors and backup kept elsewhere. */
export interface Kept {
  dir: string
  origin: string
  logKeys: readonly LogKey[]
  /** Anchors of every checkpoint, in order. */
  anchors: readonly Anchor[]
  /** The folder as it was after the first two checkpoints of `acme/live`. */
  backup: string
}

/** A trail of two tenants with checkpoints, each of which was anchored. */
export async function keptTrail(): Promise<Kept> {
  const dir = temporaryFolder()
  const trail = await openTrail(dir)
  await grow(trail, 5, 'other/live')
  let backup = ''
  for (const [i, entries] of BATCHES.entries()) {
    await grow(trail, entries)
    if (i === 1) backup = await snapshot(dir, trail.store)
  }
  const anchors = await anchorsOf(trail.store)
  const kept = { dir, origin: trail.store.origin, logKeys: trustOf(trail.store).logKeys, anchors, backup }
  await trail.close()
  return kept
}

export async function anchorsOf(store: Store): Promise<Anchor[]> {
  const checkpoints = await store.checkpointsAfter(0, 1000)
  return checkpoints.map(({ note: checkpoint }) => ({ at: '2026-01-01T00:00:01.000Z', checkpoint }))
}

/** A copy with the key file. What SQLite keeps beside the data file is written into it first. */
export async function snapshot(dir: string, store?: Store): Promise<string> {
  await store?.scrub()
  const copy = copyOf(dir)
  cpSync(join(dir, 'signing-key.pem'), join(copy, 'signing-key.pem'))
  return copy
}

/** Verifies one chain of a folder as it lies there, by the keys and anchors that somebody kept. */
export async function verdict(
  dir: string,
  { logKeys, anchors }: { logKeys: readonly LogKey[]; anchors: readonly Anchor[] },
  { chain = LIVE, range }: { chain?: string; range?: { first: number; end: number } } = {},
): Promise<RangeVerification> {
  const store = openStore({ dir, create: false, clock: () => START_MS, check: 'nothing' })
  try {
    return await verifySeqs(store, chain, range, {
      logKeys,
      anchors: headsOf(anchors.flatMap((anchor) => claimOf(anchor) ?? [])),
    })
  } finally {
    await store.close()
  }
}

interface Row {
  seq: number
  header: string
}

/**
 * Changes the header of the first entry from `seq` on that is no decision, whose sections go by its type, and, as who does
 * not hold the key can, every hash after it.
 */
export function rewriteFrom(db: Database, chain: string, seq: number, changes: object): void {
  const rows = db
    .prepare<[string, string, number], Row>(`SELECT seq, header FROM entry WHERE chain = ? AND seq >=
        (SELECT min(seq) FROM entry WHERE chain = ? AND seq >= ? AND type <> 'gate.decision') ORDER BY seq`)
    .all(chain, chain, seq)
  const update = db.prepare('UPDATE entry SET header = ?, hash = ? WHERE chain = ? AND seq = ?')
  let prev: string | undefined
  for (const row of rows) {
    const header = { ...JSON.parse(row.header), ...(prev === undefined ? changes : { prev }) }
    const text = canonicalJson(header)
    prev = hashHeader(text)
    update.run(text, parseDigest(prev), chain, row.seq)
  }
}

/** Has the trail signed again from some size on, as who stole the key file can. */
export async function resign(dir: string, chain: string, size: number): Promise<void> {
  tamper(dir, (db) => {
    db.prepare('DELETE FROM checkpoint WHERE chain = ? AND size > ?').run(chain, size)
    db.prepare('DELETE FROM tree_node WHERE chain = ? AND (place + 1) * (1 << level) > ?').run(chain, size)
  })
  reseal(dir)
  const trail = await openTrail(dir)
  await trail.checkpoints.signAll()
  await trail.close()
}

/** Seals the chains as they are, as who stole the key file can. */
function reseal(dir: string): void {
  const key = sealKeysAt(join(dir, 'signing-key.pem'))(undefined)
  const { db, instance, entries, seals } = connect(openDatabase(dir, { create: false }))
  for (const chain of entries.chains()) {
    const head = entries.head(chain)
    if (key !== undefined && head !== undefined) seals.put(instance.origin() ?? '', key, chain, head)
  }
  db.close()
}
