import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { genesisHead, type Head } from '../src/audit/chain.ts'
import { type DecisionEntry, draftAt, prepareEntry } from '../src/audit/draft.ts'
import { type Draft, SALT_BYTES, seal } from '../src/audit/entry.ts'
import { makeId, siblingId } from '../src/base/id.ts'
import { connect } from '../src/store/sqlite/connection.ts'
import { openDatabase } from '../src/store/sqlite/open.ts'
import { temporaryFolder } from './processes.ts'
import { median, round, timePerCall } from './stats.ts'

const CHAIN = 'bench/live'
const INSERT_MS = 800

/** The parts of an append, so that the dearest is known: hashing, inserting, syncing. */
export interface AppendResults {
  /** Canonical JSON, four salted commitments and the header's hash of one decision. */
  sealMs: number
  /** Bytes of the four sections and the header. */
  entryBytes: number
  inserts: { synchronous: 'OFF' | 'FULL'; batch: number; perCommitMs: number; perEntryMs: number }[]
  /** Writing 4 KiB at the end of a file and syncing it. */
  fsyncMedianMs: number
}

export function measureAppend(): AppendResults {
  const sealed = seal(genesisHead('bench', CHAIN), draft(0), TS, salts())
  const inserts: AppendResults['inserts'] = []
  for (const batch of [1, 8, 32]) {
    for (const synchronous of ['OFF', 'FULL'] as const) inserts.push(measureInserts(synchronous, batch))
  }
  return {
    sealMs: round(measureSeal(), 4),
    entryBytes: sealed.headerText.length + sealed.sections.reduce((sum, { json }) => sum + json.length, 0),
    inserts,
    fsyncMedianMs: round(measureFsync()),
  }
}

const TS = '2026-01-01T00:00:00.000Z'
const salts = () => randomBytes(4 * SALT_BYTES)

/** A decision as the service makes it. */
function entry(n: number): DecisionEntry {
  const id = makeId('decision', n, randomBytes(10))
  return {
    kind: 'decision',
    id: siblingId(id, 'entry'),
    chain: CHAIN,
    decision: { id, action: 'payment.transfer', decision: 'allow' },
    request: { action: 'payment.transfer', context: { amount: 1200.5, country: 'DE' } },
    risk: { score: 6, factors: [{ name: 'amount', weight: 50, contribution: 6 }] },
    grounds: {
      rule: 'eurozone',
      reason: 'Payments within the euro zone.',
      decidedBy: 'allow_rule',
      retry: 'never',
      policyDigest: null,
      evaluatedAt: TS,
      caller: { keyId: 'key_01k00000000000000000000000', roles: ['agent'], agent: 'bot' },
      domain: null,
      session: null,
      taken: 'payment.transfer',
      historyEnd: null,
      unevaluable: [],
      approvalId: null,
      planValidated: true,
    },
  }
}

function draft(n: number): Draft {
  return draftAt(prepareEntry(entry(n)), TS)
}

function measureSeal(): number {
  let head: Head = genesisHead('bench', CHAIN)
  return timePerCall(10_000, (i) => {
    const { header, hash } = seal(head, draft(Math.abs(i)), TS, salts())
    head = { seq: header.seq, hash, tsMs: 0 }
  })
}

/** The real schema and statements; only the entries of a batch share a transaction. Sealing is done beforehand. */
function measureInserts(synchronous: 'OFF' | 'FULL', batch: number): AppendResults['inserts'][number] {
  const folder = temporaryFolder('append')
  const db = openDatabase(folder, { create: true })
  db.pragma(`synchronous = ${synchronous}`)
  const { entries, statements } = connect(db)
  let head: Head = genesisHead('bench', CHAIN)
  let spentMs = 0
  let commits = 0
  for (const until = performance.now() + INSERT_MS; performance.now() < until; commits += 1) {
    const group = Array.from({ length: batch }, (_, i) => {
      const prepared = prepareEntry(entry(commits * batch + i))
      const saltBytes = salts()
      const sealed = seal(head, draftAt(prepared, TS), TS, saltBytes)
      head = { seq: sealed.header.seq, hash: sealed.hash, tsMs: 0 }
      return [sealed, prepared, saltBytes] as const
    })
    const started = performance.now()
    statements.begin.run()
    for (const parts of group) entries.append(...parts)
    statements.commit.run()
    spentMs += performance.now() - started
  }
  db.close()
  rmSync(folder, { recursive: true })
  const perCommitMs = spentMs / commits
  return { synchronous, batch, perCommitMs: round(perCommitMs), perEntryMs: round(perCommitMs / batch, 4) }
}

function measureFsync(): number {
  const folder = temporaryFolder('fsync')
  const file = openSync(join(folder, 'file'), 'w')
  const block = randomBytes(4096)
  const times = Array.from({ length: 200 }, () => {
    writeSync(file, block)
    const started = performance.now()
    fsyncSync(file)
    return performance.now() - started
  })
  closeSync(file)
  rmSync(folder, { recursive: true })
  return median(times)
}
