import { genesisHead, type Head } from '../../audit/chain.ts'
import { draftAt, type PreparedEntry, prepareEntry, SERVICE, withLengths } from '../../audit/draft.ts'
import { SALT_BYTES, type StoredEntry, seal } from '../../audit/entry.ts'
import { isPlaced } from '../../audit/events.ts'
import { headOf } from '../../audit/verify.ts'
import { matchesAny } from '../../base/glob.ts'
import { ID_RANDOM_BYTES, makeId } from '../../base/id.ts'
import { formatTimestamp } from '../../base/time.ts'
import { isActive } from '../../keys/apikey.ts'
import { coveringStop, type KillSwitch, stopSince } from '../../killswitch/killswitch.ts'
import { isInUse, type RecordWrite } from '../records.ts'
import type { Committed, Conflict, Guard, Placed, Submission, Write } from '../submission.ts'
import { assertUnaltered } from './alteration.ts'
import type { Connection } from './connection.ts'
import { isPendingTwice } from './errors.ts'
import { type Memory, nameOf, recordIn, refreshed } from './memory.ts'

/** Submission in the form that the writer takes. */
export type PreparedSubmission = Omit<Submission, 'entries'> & { entries: readonly PreparedEntry[] }

/** State that a group of submissions sees and changes, until its COMMIT or ROLLBACK. */
export interface Group {
  /** Name of the instance. */
  origin: string
  /** Fresh random bytes. */
  random(bytes: number): Uint8Array
  connection: Connection
  memory: Memory
  imposed: readonly KillSwitch[]
  /** Newest entry of each chain that the group touched. */
  heads: Map<string, Head>
  /** Chains whose newest entry is ahead of the clock, and where an entry already records that. */
  regressed: Set<string>
  nowMs: number
}

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
  const { transaction } = group.connection
  const heads = new Map(group.heads)
  const regressed = new Set(group.regressed)
  const memory = group.memory
  const undo = (): void => {
    transaction.undo.run()
    transaction.release.run()
    group.heads = heads
    group.regressed = regressed
    group.memory = memory
  }
  transaction.savepoint.run()
  try {
    const conflict = failedGuard(group, submission.guards)
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

function holds({ memory, imposed, connection, nowMs }: Group, guard: Guard): boolean {
  switch (guard.kind) {
    case 'notStopped':
      return coveringStop([...memory.switches, ...imposed], guard.subject) === undefined
    case 'noStopSince':
      return stopSince([...memory.switches, ...imposed], guard.subject, guard.end) === undefined
    case 'during':
      return guard.fromMs <= nowMs && nowMs < guard.untilMs
    case 'keyActive':
    case 'voterActive': {
      const key = memory.keys.get(guard.keyId)
      return key !== undefined && isActive(key, nowMs)
    }
    case 'noNewAllows':
      return !guard.of.some(({ actions, ...by }) => {
        const range = { chain: guard.chain, first: guard.since, end: Number.MAX_SAFE_INTEGER }
        const taken = connection.decisions.taken({ ...by, ...range, limit: -1 })
        return taken.some(({ action }) => matchesAny(actions, action))
      })
    case 'checkpointed':
      return connection.checkpoints.lastSize(guard.chain) === guard.size
    case 'prunedTo':
      return connection.pruned.size(guard.chain) === guard.size
    case 'logKeyInUse': {
      const key = memory.signingKeys.get(guard.id)
      return key !== undefined && isInUse(key)
    }
    case 'noOutcome':
      return connection.outcomes.told(guard.chain, guard.decisionId, guard.types).length === 0
    case 'idempotency': {
      const use = connection.idempotency.find(guard.keyId, guard.route, guard.value, nowMs)
      return (use?.entryId ?? null) === guard.entryId
    }
  }
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
    else if (write.kind === 'anchored') connection.checkpoints.putAnchored(write.delivery)
    else {
      const name = nameOf(write.kind, write.record.id)
      if ((revisions.get(name) ?? revisionOf(group, write)) !== write.record.revision - 1) return 'revision'
      revisions.set(name, write.record.revision)
      connection.records.put(write, write.kind === 'approval' ? 0 : connection.instance.nextStateVersion())
    }
  }
  group.memory = refreshed(group.memory, connection, group.origin)
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

/** Appends the entry after those that the chain needs first: its genesis, and a note when the clock has gone back. */
function append(group: Group, entry: PreparedEntry): StoredEntry {
  const head = headOfChain(group, entry.chain)
  if (group.nowMs < head.tsMs && !group.regressed.has(entry.chain)) {
    group.regressed.add(entry.chain)
    const data = { observed: formatTimestamp(group.nowMs), previous: formatTimestamp(head.tsMs) }
    appendAfter(group, head, serviceEvent(group, entry.chain, 'clock.regression', data))
  } else if (group.nowMs >= head.tsMs) {
    group.regressed.delete(entry.chain)
  }
  return appendAfter(group, headOfChain(group, entry.chain), entry)
}

function headOfChain(group: Group, chain: string): Head {
  const known = group.heads.get(chain) ?? group.connection.entries.head(chain)
  if (known !== undefined) return known
  const genesis = serviceEvent(group, chain, 'audit.genesis', { chain, origin: group.origin })
  return headOf(appendAfter(group, genesisHead(group.origin, chain), genesis))
}

function serviceEvent(
  { nowMs, random }: Group,
  chain: string,
  type: 'audit.genesis' | 'clock.regression',
  data: Record<string, string>,
): PreparedEntry {
  const id = makeId('entry', nowMs, random(ID_RANDOM_BYTES))
  return prepareEntry({ kind: 'event', id, chain, type, data, actor: SERVICE })
}

/** Lengths of all chains but this one, as of now in the transaction. */
function lengthsBeside({ connection: { entries } }: Group, chain: string): Record<string, number> {
  const others = entries.chains().filter((other) => other !== chain)
  return Object.fromEntries(others.map((other) => [other, entries.length(other)]))
}

function appendAfter(group: Group, head: Head, entry: PreparedEntry): StoredEntry {
  const ts = formatTimestamp(Math.max(group.nowMs, head.tsMs))
  const timed = draftAt(entry, ts)
  const draft = isPlaced(entry.chain, entry.type) ? withLengths(timed, lengthsBeside(group, entry.chain)) : timed
  const sealed = seal(head, draft, ts, group.random(SALT_BYTES * draft.sections.length))
  group.connection.entries.append(sealed)
  group.heads.set(entry.chain, headOf(sealed))
  return sealed
}
