import type { Database } from 'better-sqlite3'
import { entryRows } from '../entry-row.ts'
import { type Memory, refreshed } from '../memory.ts'
import { runNow } from '../steps.ts'
import type { Instance } from '../verify/follow.ts'
import { OtherSealKey } from '../writer.ts'
import { approvalQueries } from './approvals.ts'
import { chainRows } from './chain-rows.ts'
import { checkpointQueries } from './checkpoints.ts'
import { decisionQueries } from './decisions.ts'
import { entryQueries } from './entries.ts'
import { asUnusable, isPendingTwice, isSqliteError } from './errors.ts'
import { outcomeQueries } from './outcomes.ts'
import { chainPlaces } from './places.ts'
import { policySourceQueries } from './policy-source.ts'
import { prunedQueries } from './pruned.ts'
import { recordQueries } from './records.ts'
import { sealQueries } from './seals.ts'
import { sharedTexts } from './shared-text.ts'
import { systemHeadQueries } from './system-heads.ts'
import { idempotencyQueries, keyUseQueries, trialQueries } from './uses.ts'

/** Database handle with its prepared statements, which belong to that handle. */
export function connect(db: Database) {
  const places = chainPlaces(db)
  const texts = sharedTexts(db)
  const statements = transactionStatements(db)
  const codec = entryRows({ numberOf: places.made, stored: texts.stored, text: texts.text })
  const entries = entryQueries(db, places, codec)
  const rows = chainRows(db, places, codec)
  const pruned = prunedQueries(db, { entries, rows, places, texts })
  return {
    db,
    places,
    texts,
    instance: instanceQueries(db),
    entries,
    records: recordQueries(db, places),
    rows,
    pruned,
    systemHeads: systemHeadQueries(db, places, pruned),
    decisions: decisionQueries(db, places, texts),
    outcomes: outcomeQueries(db, places),
    approvals: approvalQueries(db),
    checkpoints: checkpointQueries(db, places),
    idempotency: idempotencyQueries(db),
    keyUses: keyUseQueries(db),
    policySources: policySourceQueries(db),
    seals: sealQueries(db),
    trials: trialQueries(db),
    statements,
    transaction: {
      isOpen: () => db.inTransaction,
      savepoint: () => statements.savepoint.run(),
      release: () => statements.release.run(),
      undo() {
        statements.undo.run()
        statements.release.run()
      },
    },
    forget() {
      places.forget()
      texts.forget()
    },
    asUnusable,
    isPendingTwice,
    isFailure: (error: unknown) => isSqliteError(error) || error instanceof OtherSealKey,
  }
}

export type Connection = ReturnType<typeof connect>

/** The cache, refreshed from one snapshot of the file. */
export function refreshedFrom(connection: Connection, memory: Memory, instance: Instance): Memory {
  if (connection.instance.stateVersion() === memory.version && memory.altered.size === 0) return memory
  return connection.db.transaction(() => runNow(refreshed(memory, connection, instance))).deferred()
}

/** Statements over the one row of instance. */
function instanceQueries(db: Database) {
  const row = db.prepare<[], { origin: string; state_version: number }>('SELECT origin, state_version FROM instance')
  const insert = db.prepare<[string]>('INSERT INTO instance (one, origin, state_version) VALUES (1, ?, 0)')
  const bump = db.prepare<[], { state_version: number }>(
    'UPDATE instance SET state_version = state_version + 1 RETURNING state_version',
  )
  return {
    origin: () => row.get()?.origin,
    create: (origin: string) => insert.run(origin),
    stateVersion: () => row.get()?.state_version ?? 0,
    nextStateVersion: () => bump.get()?.state_version ?? 0,
  }
}

function transactionStatements(db: Database) {
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    beginRead: db.prepare('BEGIN'),
    commit: db.prepare('COMMIT'),
    savepoint: db.prepare('SAVEPOINT submission'),
    release: db.prepare('RELEASE submission'),
    undo: db.prepare('ROLLBACK TO submission'),
  }
}
