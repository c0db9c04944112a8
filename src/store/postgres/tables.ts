import { entryRows } from '../entry-row.ts'
import type { Tables } from '../tables.ts'
import { approvalQueries } from './approvals.ts'
import { chainPlaces, isEnd, type LockedChain, type Numbers, sealQueries } from './chains.ts'
import { checkpointQueries } from './checkpoints.ts'
import { first, type Runner, statement } from './database.ts'
import { decisionReads } from './decisions.ts'
import { chainRows, entryReads, entryWrites } from './entries.ts'
import { asUnusable, isFailure, isPendingTwice } from './errors.ts'
import { outcomeReads } from './outcomes.ts'
import { prunedQueries } from './pruned.ts'
import { recordQueries } from './records.ts'
import type { SharedTexts } from './shared-text.ts'
import { systemHeadReads } from './system-heads.ts'
import type { Transaction } from './transaction.ts'
import { idempotencyQueries, keyUseQueries, policySourceQueries, trialQueries } from './uses.ts'

const ORIGIN = statement('SELECT origin FROM gate.instance')
const STATE_VERSION = statement('SELECT state_version AS version FROM gate.instance')
const NEXT_VERSION = statement(
  'UPDATE gate.instance SET state_version = state_version + 1 RETURNING state_version AS version',
)

/** Members of a transaction beside its connection. */
export interface Writing {
  transaction: Transaction
  texts: SharedTexts
  /** The chains that it locked, by name. */
  locked: ReadonlyMap<string, LockedChain>
}

/** All statements, run in one way. @param writing for a transaction that writes */
export function tablesOn(run: Runner, numbers: Numbers, writing?: Writing): Tables {
  const places = chainPlaces(run, numbers)
  const texts = writing?.texts
  const rows = entryRows({
    numberOf: (chain) => numbers.get(chain) ?? 0,
    stored: (chain, seq, text) => texts?.stored(run, chain, seq, text) ?? text,
    // The queries put shared texts in the place of their numbers.
    text: (_chain, _seq, stored) => (typeof stored === 'string' ? stored : undefined),
  })
  const codec = { run, places, rows }
  const entries = { ...entryReads(codec), ...entryWrites(codec) }
  const chains = chainRows(codec)
  const pruned = prunedQueries(run, { entries, rows: chains }, numbers)
  return {
    instance: {
      origin: async () => (await first(run.rows<{ origin: string }>(ORIGIN)))?.origin,
      stateVersion: async () => (await first(run.rows<{ version: number }>(STATE_VERSION)))?.version ?? 0,
      nextStateVersion: async () => (await first(run.rows<{ version: number }>(NEXT_VERSION)))?.version ?? 0,
    },
    entries: {
      ...entries,
      // A locked chain is as long as its row says.
      length: (chain) => writing?.locked.get(chain)?.length ?? entries.length(chain),
      isHead(chain, head) {
        const end = writing?.locked.get(chain)
        return end !== undefined && isEnd(end, head)
      },
    },
    records: recordQueries(run),
    rows: chains,
    pruned,
    seals: sealQueries(run),
    systemHeads: systemHeadReads(run, places, pruned),
    decisions: decisionReads(run, places),
    outcomes: outcomeReads(run, places),
    approvals: approvalQueries(run),
    checkpoints: checkpointQueries(run, places),
    idempotency: idempotencyQueries(run),
    keyUses: keyUseQueries(run),
    policySources: policySourceQueries(run),
    trials: trialQueries(run),
    transaction: writing?.transaction ?? NO_TRANSACTION,
    forget: () => texts?.forget(),
    asUnusable,
    isFailure,
    isPendingTwice,
  }
}

function readsOnly(): never {
  throw new TypeError('nothing is written outside a transaction')
}
const NO_TRANSACTION = { isOpen: () => false, savepoint: readsOnly, release: readsOnly, undo: readsOnly }
