import type { Approval, ApprovalStatus } from './approvals/approval.ts'
import type { StoredEntry } from './audit/chain.ts'
import type { EntryDraft } from './audit/entry.ts'
import type { Glob } from './base/glob.ts'
import type { ApiKey } from './keys/apikey.ts'
import type { Tenant } from './keys/tenant.ts'
import type { KillSwitch, Subject } from './killswitch/killswitch.ts'
import type { PolicyRecord, RecordKind, RecordWrite, SigningKey } from './records.ts'

export interface IdempotencyUse {
  keyId: string
  /** Route and chain. */
  route: string
  value: string
  /** Digest of the request's body; another body under the same value is a conflict. */
  bodyDigest: string
  entryId: string
  atMs: number
}

/**
 * Texts of a policy set that came into force: it survives a restart with a broken folder, and its decisions can be explained.
 * The newest of a tenant are kept (docs/format.md).
 */
export interface StoredPolicies {
  tenantId: string
  /** Of the set that the texts make, which whoever reads them works out again. */
  digest: string
  source: string
}

/**
 * A change of state. A record is written at `revision` n only over revision n − 1 (none for 1); any
 * other stored revision is a conflict, so two writers never lose each other's change.
 */
export type Write =
  | RecordWrite
  | { kind: 'idempotency'; use: IdempotencyUse }
  | { kind: 'policySource'; stored: StoredPolicies }

/** Whose allowed actions: those of all agents of a chain, of one, or of one in one session. */
export interface TakenBy {
  agent: string | null
  /** Null where the agent is. */
  session: string | null
}

export interface TakenQuery extends TakenBy {
  chain: string
  /** first <= seq < end */
  first: number
  end: number
  limit: number
}

/** An action that was allowed, and the seq of its decision. */
export interface Taken {
  seq: number
  action: string
}

/** What must still be true at the commit, checked inside its transaction against the file. */
export type Guard =
  | { kind: 'notStopped'; subject: Subject }
  | { kind: 'keyActive'; keyId: string }
  /** As keyActive, for a key whose vote is relied on. */
  | { kind: 'voterActive'; keyId: string }
  /** The commit comes before this time, in milliseconds. */
  | { kind: 'before'; timeMs: number }
  /** From this seq on, none of these has been allowed. */
  | { kind: 'notTaken'; chain: string; since: number; of: readonly (TakenBy & { actions: readonly Glob[] })[] }
  /** The value still leads to this entry; null: to none. */
  | { kind: 'idempotency'; keyId: string; route: string; value: string; entryId: string | null }

export interface Submission {
  guards: readonly Guard[]
  writes: readonly Write[]
  /** At least one: no state changes without an entry. Appended in order. */
  entries: readonly EntryDraft[]
}

/** Where an entry was put. */
export interface Placed {
  id: string
  chain: string
  seq: number
  ts: string
  hash: string
}

export interface Committed {
  conflict: null
  /** In the order of the drafts. */
  entries: readonly Placed[]
}

/**
 * Nothing of the submission counts. Read again and decide again. Nothing of it was written either, but for an allow that a stop
 * overtook while it was being written (`notStopped`): that is in the chain, and nobody is given it.
 */
export interface Conflict {
  /** Which guard failed; `revision`: a record had changed; `pending`: an approval of the same digest is pending already. */
  conflict: Guard['kind'] | 'revision' | 'pending'
}

/** What the service keeps in memory: as new as the last commit of this process, at most 250 ms behind other processes. */
export interface State {
  tenants: ReadonlyMap<string, Tenant>
  keys: ReadonlyMap<string, ApiKey>
  keysByHash: ReadonlyMap<string, ApiKey>
  signingKeys: ReadonlyMap<string, SigningKey>
  policies: ReadonlyMap<string, PolicyRecord>
  /** All, recovered ones too, and those triggered here that are not yet on disk. */
  switches: readonly KillSwitch[]
}

export interface PageQuery {
  chain: string
  order: 'asc' | 'desc'
  limit: number
  offset: number
  /** Only entries with a smaller seq. */
  before?: number | undefined
  eventType?: string | undefined
  /** Timestamps in our form; from included, to excluded. */
  from?: string | undefined
  to?: string | undefined
  /** Which sections the entries come with; without it, all. Others are not read. */
  sections?: readonly string[] | undefined
  /** Ends the page early, after the entry with which its stored JSON exceeds this. */
  maxBytes?: number | undefined
}

export interface ApprovalQuery {
  chain: string
  /** Stored statuses, but for the approvals that `actual` names. */
  statuses: readonly ApprovalStatus[]
  /** Ids of open approvals that have another status by now, without an entry that says so yet. */
  actual?: { expired: readonly string[]; cancelled: readonly string[] } | undefined
  limit: number
  offset: number
  requestedBy?: string | undefined
  /** Ends the page early, after the approval with which its stored JSON exceeds this. */
  maxBytes?: number | undefined
}

export interface OpenQuery {
  /** Stored statuses. */
  statuses: readonly ('pending' | 'approved')[]
  /** Only those whose deadline, stops not counted, is not later. */
  dueAt?: string | undefined
  limit: number
  /** Of every chain without it. */
  chain?: string | undefined
  /** Only those that come after this one. */
  after?: Pick<Approval, 'expiresAt' | 'id'> | undefined
  /** As in ApprovalQuery: fewer than `limit`, though more may follow. */
  maxBytes?: number | undefined
}

/**
 * Durable state and audit chains. A commit that was answered is on disk and survives a power cut; it
 * is seen by every later read of any process. Reads never wait for writers.
 */
export interface Store {
  /** Name of this instance, fixed at its first start; every chain's genesis binds it. */
  readonly origin: string

  /**
   * Checks the guards, applies the writes and appends the entries in one transaction, or does nothing.
   * The only way to write. Submissions that arrive together share one transaction and one fsync;
   * a conflict refuses only its own submission.
   *
   * @throws GateError `audit_unavailable` when the file cannot be written (nothing of the submission
   *   counts), `overloaded` when another process has held the write lock for too long.
   */
  commit(submission: Submission): Promise<Committed | Conflict>

  /** Puts a stop in force in this process at once, before it is durable. It leaves this overlay when it is committed. */
  impose(stop: KillSwitch): void
  /** Stops imposed here that are not on disk yet. */
  imposed(): readonly KillSwitch[]

  state(): State
  /** Takes in what other processes wrote since. */
  refresh(): void

  approval(id: string): Promise<Approval | undefined>
  /** Oldest deadline first. */
  approvals(query: ApprovalQuery): Promise<{ items: Approval[]; total: number }>
  /** The pending, approved or rejected approvals with this digest, newest first. */
  approvalsFor(chain: string, digest: string): Promise<Approval[]>
  /** Pending or approved, oldest deadline first, then by id. None is given only when there is none. */
  openApprovals(query: OpenQuery): Promise<Approval[]>
  /** Whether it is stored as pending still, found without reading it. */
  isPending(approval: Pick<Approval, 'id' | 'chain' | 'digest'>): Promise<boolean>

  entry(id: string): Promise<StoredEntry | undefined>
  entryAt(chain: string, seq: number): Promise<StoredEntry | undefined>
  /** Entries with fromSeq <= seq, ascending; fewer than `limit` after the entry with which their JSON exceeds `maxBytes`. */
  entriesFrom(chain: string, fromSeq: number, limit: number, maxBytes?: number): Promise<StoredEntry[]>
  /** Header texts of those entries, without the rest. */
  headersFrom(chain: string, fromSeq: number, limit: number): Promise<string[]>
  /** How many entries each of these chains has: one more than its newest seq. */
  lengths(chains: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Seqs, ascending, of the entries of these types with first <= seq < end. Decisions are not found this way. */
  seqsOfTypes(chain: string, types: readonly string[], range: { first: number; end: number }): Promise<number[]>
  page(query: PageQuery): Promise<{ items: StoredEntry[]; total: number }>
  /** first <= seq < end of the entries with from <= ts < to; empty when first equals end. */
  seqRange(chain: string, from: string, to: string): Promise<{ first: number; end: number }>
  /** The entries that changed one record, in order. */
  changesOf(kind: RecordKind, id: string): Promise<StoredEntry[]>
  /** First seq whose entry is not older than this time; one past the newest when there is none. */
  seqNotBefore(chain: string, ts: string): Promise<number>
  /** The request of a decision as JSON; undefined where it has been erased, or there is no such decision. */
  requestAt(chain: string, seq: number): Promise<string | undefined>
  /** Ascending. What was allowed and erased later counts too: that it was allowed is never erased. */
  taken(query: TakenQuery): Promise<Taken[]>
  /** Distinct actions of the newest decisions. */
  recentActions(chain: string, decisions: number): Promise<string[]>
  /** Names of all chains. */
  chains(): Promise<string[]>
  /** Reads one row. @throws GateError `audit_unavailable` when the file does not answer */
  probe(): Promise<void>

  idempotencyUse(keyId: string, route: string, value: string): Promise<IdempotencyUse | undefined>
  /** The texts of this set; undefined when they were never stored, or are not kept any more. */
  policySource(tenantId: string, digest: string): Promise<string | undefined>

  /** Waits for the submissions under way, then closes the file. */
  close(): Promise<void>
}
