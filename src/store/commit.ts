import { statusAt } from '../approvals/approval.ts'
import { matchesAny } from '../base/glob.ts'
import { isActive } from '../keys/apikey.ts'
import { coveringStop, type PlacedStop, stopSince } from '../killswitch/killswitch.ts'
import { assertUnaltered } from './alteration.ts'
import { append, lengthOf, reseal } from './append.ts'
import type { Group } from './group.ts'
import { nameOf, recordIn, refreshed } from './memory.ts'
import { isInUse, type RecordWrite } from './records.ts'
import { read, type Steps } from './steps.ts'
import type { Committed, Conflict, CounterUse, Guard, Placed, PreparedSubmission, Write } from './submission.ts'
import type { Tables } from './tables.ts'

/** Entries that a guard looks at; behind more, what it guards is decided again, which reads them in parts. */
const GUARDED_ENTRIES = 5000

/**
 * Applies one submission inside the group's transaction, under the write lock. A conflict leaves no trace.
 *
 * @throws the error of the database when it cannot be written (the whole group is lost), or a TypeError for a record
 *   without canonical form (this submission is lost)
 */
export function* applySubmission(group: Group, submission: PreparedSubmission): Steps<Committed | Conflict> {
  if (group.memory.altered.size > 0) assertUnaltered(group.memory.altered.values(), submission)
  // Most submissions append one entry or nothing, and leave nothing to undo.
  if (submission.writes.length === 0 && submission.entries.length === 1) {
    const conflict = yield* failedGuard(group, submission.guards)
    if (conflict !== undefined) return { conflict }
    const entries = yield* appendAll(group, submission)
    useCounters(group, submission)
    return { conflict: null, entries }
  }
  const { transaction, isPendingTwice, forget } = group.tables
  const { seal } = group
  const heads = new Map(group.heads)
  const regressed = new Map(group.regressed)
  const memory = group.memory
  const undo = function* (): Steps<void> {
    yield* read(transaction.undo())
    forget()
    group.heads = heads
    group.regressed = regressed
    group.memory = memory
    group.seal = seal
  }
  yield* read(transaction.savepoint())
  try {
    const conflict = yield* failedGuard(group, submission.guards)
    for (const write of submission.writes) if (write.kind === 'reseal') yield* reseal(group, write)
    // Entries first: a record is taken in only when it follows from them.
    const entries = conflict === undefined ? yield* appendAll(group, submission) : []
    const refusal = conflict ?? (yield* applyWrites(group, submission.writes))
    if (refusal !== undefined) {
      yield* undo()
      return { conflict: refusal }
    }
    yield* read(transaction.release())
    useCounters(group, submission)
    return { conflict: null, entries }
  } catch (error) {
    if (transaction.isOpen()) yield* undo()
    if (isPendingTwice(error)) return { conflict: 'pending' }
    throw error
  }
}

function* appendAll(group: Group, { entries }: PreparedSubmission): Steps<Placed[]> {
  const placed: Placed[] = []
  for (const entry of entries) {
    const { header, hash } = yield* append(group, entry)
    placed.push({ id: header.id, chain: header.chain, seq: header.seq, ts: header.ts, hash })
  }
  return placed
}

function* failedGuard(group: Group, guards: readonly Guard[]): Steps<Guard['kind'] | undefined> {
  for (const guard of guards) {
    const holds = holdsInMemory(group, guard) ?? (yield* holdsInTables(group, guard))
    if (!holds) return guard.kind
  }
  return undefined
}

/** All stops: those on disk, ended or not, and those that are not on disk yet. */
function stopsNow({ memory, imposed }: Group): PlacedStop[] {
  return [...memory.switches, ...imposed]
}

/** True where the counter is held, and nothing used it since it was read. A file needs none. */
function isHeldAsRead({ counters }: Group, { counter, floorMs }: CounterUse, reservation: string | null): boolean {
  if (counters === undefined) return true
  const held = counters.get(counter)
  if (held === undefined || (held.reservation !== null && held.reservation !== reservation)) return false
  return floorMs === null || (held.floorMs === floorMs && !held.isUsed)
}

function useCounters({ counters }: Group, { guards }: PreparedSubmission): void {
  for (const guard of counters === undefined ? [] : guards)
    if (guard.kind === 'counters')
      for (const { counter } of guard.of) {
        const held = counters?.get(counter)
        if (held !== undefined) held.isUsed = true
      }
}

/** Undefined for a guard that needs a look into the tables. */
function holdsInMemory(group: Group, guard: Guard): boolean | undefined {
  const { memory, nowMs } = group
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
    case 'counters':
      return guard.of.every((use) => isHeldAsRead(group, use, guard.reservation))
    case 'keyActive':
    case 'voterActive': {
      const key = memory.keys.get(guard.keyId)
      return key !== undefined && isActive(key, nowMs)
    }
    case 'logKeyInUse': {
      const key = memory.signingKeys.get(guard.id)
      return key !== undefined && isInUse(key)
    }
    default:
      return undefined
  }
}

function* holdsInTables(group: Group, guard: Guard): Steps<boolean> {
  const { tables, nowMs } = group
  switch (guard.kind) {
    case 'noNewAllows': {
      const range = { first: guard.since, end: yield* lengthOf(group, guard.chain) }
      if (range.end <= range.first) return true
      if (range.end > range.first + GUARDED_ENTRIES) return false
      for (const { actions, ...by } of guard.of) {
        const taken = yield* read(tables.decisions.taken({ chain: guard.chain, ...by, ...range, limit: -1 }))
        if (taken.some(({ action }) => matchesAny(actions, action))) return false
      }
      return true
    }
    case 'checkpointed':
      return (yield* read(tables.checkpoints.lastSize(guard.chain))) === guard.size
    case 'prunedTo':
      return (yield* read(tables.pruned.size(guard.chain))) === guard.size
    case 'pendingBelow':
      return (yield* read(tables.approvals.pendingOf(guard.chain, guard.requestedBy))) < guard.limit
    case 'noOutcome':
      return (yield* read(tables.outcomes.told(guard.chain, guard.decisionId, guard.types))).length === 0
    case 'idempotency': {
      const use = yield* read(tables.idempotency.find(guard.keyId, guard.route, guard.value, nowMs))
      return (use?.entryId ?? null) === guard.entryId
    }
    default:
      throw new TypeError(`the guard ${guard.kind} needs no table`)
  }
}

function* applyWrites(group: Group, writes: readonly Write[]): Steps<'revision' | undefined> {
  const { tables } = group
  const revisions = new Map<string, number>()
  for (const write of writes) {
    if (write.kind === 'idempotency') yield* read(tables.idempotency.put(write.use))
    else if (write.kind === 'policySource') yield* read(tables.policySources.put(write.stored))
    else if (write.kind === 'checkpoint')
      yield* read(tables.checkpoints.put(write.chain, write.size, write.note, write.nodes))
    else if (write.kind === 'erase') yield* erase(tables, write)
    else if (write.kind === 'prune') yield* prune(tables, write)
    else if (write.kind === 'keyUse') yield* read(tables.keyUses.put(write.uses))
    else if (write.kind === 'reseal') continue
    else if (write.kind === 'trial') yield* read(tables.trials.put(write.at, write.bytes))
    else if (write.kind === 'anchored') yield* read(tables.checkpoints.putAnchored(write.delivery))
    else {
      const name = nameOf(write.kind, write.record.id)
      const revision = revisions.get(name) ?? (yield* revisionOf(group, write))
      if (revision !== write.record.revision - 1) return 'revision'
      revisions.set(name, write.record.revision)
      const version = write.kind === 'approval' ? 0 : yield* read(tables.instance.nextStateVersion())
      yield* read(tables.records.put(write, version))
    }
  }
  if (revisions.size > 0) yield* takeIn(group, revisions.keys())
  return undefined
}

/** Takes in the written records. @throws TypeError for one that no entry of the submission records */
function* takeIn(group: Group, names: Iterable<string>): Steps<void> {
  group.memory = yield* refreshed(group.memory, group.tables, { origin: group.origin, sealKeys: undefined })
  for (const name of names) {
    const { message } = group.memory.altered.get(name) ?? {}
    if (message !== undefined) throw new TypeError(`an entry of the submission must record the change: ${message}`)
  }
}

/** Revision before the write; 0 for none. A row that was altered in the store does not keep its record from changes. */
function* revisionOf({ memory, tables }: Group, { kind, record: { id } }: RecordWrite): Steps<number> {
  const known = kind === 'approval' ? yield* read(tables.records.approval.get(id)) : recordIn(memory, kind, id)
  return known?.revision ?? 0
}

function* erase(
  { entries, records }: Tables,
  { chain, targets, approvals }: Extract<Write, { kind: 'erase' }>,
): Steps<void> {
  for (const target of targets) yield* read(entries.eraseSections(chain, target))
  for (const id of approvals) yield* read(records.approval.remove(id))
}

function* prune(
  { pruned, checkpoints, records }: Tables,
  { chain, size, frontier, approvals }: Extract<Write, { kind: 'prune' }>,
): Steps<void> {
  yield* read(pruned.prune(chain, size))
  yield* read(checkpoints.prune(chain, size, frontier))
  for (const id of approvals) yield* read(records.approval.remove(id))
}
