import type { Database } from 'better-sqlite3'
import { approvalQueries } from './approvals.ts'
import { chainRows } from './chain-rows.ts'
import { checkpointQueries } from './checkpoints.ts'
import { decisionsQuery } from './decisions.ts'
import { entryQueries } from './entries.ts'
import { idempotencyQueries } from './idempotency.ts'
import { instanceQueries } from './instance.ts'
import { keyUseQueries } from './key-uses.ts'
import { outcomeQueries } from './outcomes.ts'
import { policySourceQueries } from './policy-source.ts'
import { prunedQueries } from './pruned.ts'
import { recordEntryQueries } from './record-entries.ts'
import { recordQueries } from './records.ts'
import { systemHeadQueries } from './system-heads.ts'
import { takenQuery } from './taken.ts'

/** Database handle with its prepared statements, which belong to that handle. */
export function connect(db: Database) {
  const entries = entryQueries(db)
  const rows = chainRows(db)
  const pruned = prunedQueries(db, entries, rows)
  return {
    db,
    instance: instanceQueries(db),
    entries,
    records: recordQueries(db),
    rows,
    pruned,
    systemHeads: systemHeadQueries(db, pruned),
    recordEntries: recordEntryQueries(db),
    decisions: decisionsQuery(db),
    taken: takenQuery(db),
    outcomes: outcomeQueries(db),
    approvals: approvalQueries(db),
    checkpoints: checkpointQueries(db),
    idempotency: idempotencyQueries(db),
    keyUses: keyUseQueries(db),
    policySources: policySourceQueries(db),
    transaction: transactionStatements(db),
  }
}

export type Connection = ReturnType<typeof connect>

function transactionStatements(db: Database) {
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    savepoint: db.prepare('SAVEPOINT submission'),
    release: db.prepare('RELEASE submission'),
    undo: db.prepare('ROLLBACK TO submission'),
  }
}
