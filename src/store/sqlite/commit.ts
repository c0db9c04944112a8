import { statusAt } from '../../approvals/approval.ts'
import { matchesAny } from '../../base/glob.ts'
import { isActive } from '../../keys/apikey.ts'
import { coveringStop, type PlacedStop, stopSince } from '../../killswitch/killswitch.ts'
import { assertUnaltered } from '../alteration.ts'
import { nameOf, recordIn } from '../memory.ts'
import { isInUse, type RecordWrite } from '../records.ts'
import type { Committed, Conflict, Guard, Placed, PreparedSubmission, Write } from '../submission.ts'
import { append, reseal } from './append.ts'
import { type Connection, refreshedFrom } from './connection.ts'
import { isPendingTwice } from './errors.ts'
import type { Group } from './group.ts'

/** Entries that a guard looks at; behind more, what it guards is decided again, which reads them in parts. */
const GUARDED_ENTRIES = 5000

/**
 * Applies one submission inside the group's transaction, under the write lock. A conflict leaves no trace.
 *
 * @throws the error of SQLite when the file cannot be written (the whole group is lost), or a TypeError for a record
 *   without canonical form (this submission is lost)
 */
export function applySubmission(group: Group, submission: PreparedSubmission): Committed | Conflict {
  if (group.memory.altered.size > 0) assertUnaltered(group.memory.altered.values(), submission)
  // Most submissions append one entry or nothing, and leave nothing to undo.
  if (submission.writes.length === 0 && submission.entries.length === 1) {
    const conflict = failedGuard(group, submission.guards)
    return conflict === undefined ? { conflict: null, entries: appendAll(group, submission) } : { conflict }
  }
  const { transaction, places, texts } = group.connection
  const { seal } = group
  const heads = new Map(group.heads)
  const regressed = new Map(group.regressed)
  const memory = group.memory
  const undo = (): void => {
    transaction.undo.run()
    transaction.release.run()
    places.forget()
    texts.forget()
    group.heads = heads
    group.regressed = regressed
    group.memory = memory
    group.seal = seal
  }
  transaction.savepoint.run()
  try {
    const conflict = failedGuard(group, submission.guards)
    for (const write of submission.writes) if (write.kind === 'reseal') reseal(group, write)
    // Entries first: a record is taken in only when it follows from them.
    const entries = conflict === undefined ? appendAll(group, submission) : []
    const refusal = conflict ?? applyWrites(group, submission.writes)
    if (refusal !== undefined) {
      undo()
      return { conflict: refusal }
    }
    transaction.release.run()
    return { conflict: null, entries }
  } catch (error) {
    if (group.connection.db.inTransaction) undo()
    if (isPendingTwice(error)) return { conflict: 'pending' }
    throw error
  }
}

function appendAll(group: Group, { entries }: PreparedSubmission): Placed[] {
  return entries.map((entry) => {
    const { header, hash } = append(group, entry)
    return { id: header.id, chain: header.chain, seq: header.seq, ts: header.ts, hash }
  })
}

function failedGuard(group: Group, guards: readonly Guard[]): Guard['kind'] | undefined {
  return guards.find((guard) => !holds(group, guard))?.kind
}

/** All stops: those on disk, ended or not, and those that are not on disk yet. */
function stopsNow({ memory, imposed }: Group): PlacedStop[] {
  return [...memory.switches, ...imposed]
}

function holds(group: Group, guard: Guard): boolean {
  const { memory, connection, nowMs } = group
  switch (guard.kind) {
    case 'notStopped':
      return coveringStop(stopsNow(group), guard.subject) === undefined
    case 'noStopSince':
      return stopSince(stopsNow(group), guard.subject, guard.end) === undefined
    case 'before':
      return nowMs < guard.untilMs
    case 'expiry': {
      const { of, isOver } = guard
      return (statusAt(of, stopsNow(group), nowMs) === 'expired') === isOver
    }
    case 'keyActive':
    case 'voterActive': {
      const key = memory.keys.get(guard.keyId)
      return key !== undefined && isActive(key, nowMs)
    }
    case 'noNewAllows': {
      const range = { first: guard.since, end: lengthOf(group, guard.chain) }
      if (range.end <= range.first) return true
      if (range.end > range.first + GUARDED_ENTRIES) return false
      return !guard.of.some(({ actions, ...by }) => {
        const taken = connection.decisions.taken({ chain: guard.chain, ...by, ...range, limit: -1 })
        return taken.some(({ action }) => matchesAny(actions, action))
      })
    }
    case 'checkpointed':
      return connection.checkpoints.lastSize(guard.chain) === guard.size
    case 'prunedTo':
      return connection.pruned.size(guard.chain) === guard.size
    case 'logKeyInUse': {
      const key = memory.signingKeys.get(guard.id)
      return key !== undefined && isInUse(key)
    }
    case 'pendingBelow':
      return connection.approvals.pendingOf(guard.chain, guard.requestedBy) < guard.limit
    case 'noOutcome':
      return connection.outcomes.told(guard.chain, guard.decisionId, guard.types).length === 0
    case 'idempotency': {
      const use = connection.idempotency.find(guard.keyId, guard.route, guard.value, nowMs)
      return (use?.entryId ?? null) === guard.entryId
    }
  }
}

function lengthOf({ heads, connection }: Group, chain: string): number {
  const head = heads.get(chain)
  return head === undefined ? connection.entries.length(chain) : head.seq + 1
}

function applyWrites(group: Group, writes: readonly Write[]): 'revision' | undefined {
  const { connection } = group
  const revisions = new Map<string, number>()
  for (const write of writes) {
    if (write.kind === 'idempotency') connection.idempotency.put(write.use)
    else if (write.kind === 'policySource') connection.policySources.put(write.stored)
    else if (write.kind === 'checkpoint') connection.checkpoints.put(write.chain, write.size, write.note, write.nodes)
    else if (write.kind === 'erase') erase(connection, write)
    else if (write.kind === 'prune') prune(connection, write)
    else if (write.kind === 'keyUse') connection.keyUses.put(write.uses)
    else if (write.kind === 'reseal') continue
    else if (write.kind === 'trial') connection.trials.put(write.at, write.bytes)
    else if (write.kind === 'anchored') connection.checkpoints.putAnchored(write.delivery)
    else {
      const name = nameOf(write.kind, write.record.id)
      if ((revisions.get(name) ?? revisionOf(group, write)) !== write.record.revision - 1) return 'revision'
      revisions.set(name, write.record.revision)
      connection.records.put(write, write.kind === 'approval' ? 0 : connection.instance.nextStateVersion())
    }
  }
  group.memory = refreshedFrom(connection, group.memory, { origin: group.origin, sealKeys: undefined })
  for (const name of revisions.keys()) {
    const { message } = group.memory.altered.get(name) ?? {}
    if (message !== undefined) throw new TypeError(`an entry of the submission must record the change: ${message}`)
  }
  return undefined
}

/** Revision before the write; 0 for none. A row that was altered in the file does not keep its record from changes. */
function revisionOf({ memory, connection }: Group, { kind, record: { id } }: RecordWrite): number {
  const known = kind === 'approval' ? connection.records.approval.get(id) : recordIn(memory, kind, id)
  return known?.revision ?? 0
}

function erase(
  { entries, records }: Connection,
  { chain, targets, approvals }: Extract<Write, { kind: 'erase' }>,
): void {
  for (const target of targets) entries.eraseSections(chain, target)
  for (const id of approvals) records.approval.remove(id)
}

function prune(
  { pruned, checkpoints, records }: Connection,
  { chain, size, frontier, approvals }: Extract<Write, { kind: 'prune' }>,
): void {
  pruned.prune(chain, size)
  checkpoints.prune(chain, size, frontier)
  for (const id of approvals) records.approval.remove(id)
}
