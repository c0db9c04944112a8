import type { Approval, Standing } from '../approvals/approval.ts'
import type { StoredEntry } from '../audit/chain.ts'
import type { EventType } from '../audit/events.ts'
import type { RangeVerification } from '../audit/range.ts'
import type { Hash, Range } from '../audit/tree.ts'
import type { Left, Prune } from '../evidence/prune.ts'
import type { ApiKey } from '../keys/apikey.ts'
import type { Tenant } from '../keys/tenant.ts'
import type { KillSwitch } from '../killswitch/killswitch.ts'
import type {
  ApprovalQuery,
  ChainRequest,
  DecisionRow,
  OpenQuery,
  PageQuery,
  Reporter,
  StandingQuery,
  Taken,
  TakenQuery,
  Unreported,
  UnreportedQuery,
} from './queries.ts'
import type { PolicyRecord, RecordedHead, RecordKind, SigningKey } from './records.ts'
import type { Committed, Conflict, Delivery, IdempotencyUse, StoredCheckpoint, Submission } from './submission.ts'

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
  /**
   * Refuses every commit of this process from now on, with `audit_unavailable`; reads and `impose` work on.
   *
   * @param reasonFor what to tell a submission to these chains
   */
  suspend(reasonFor: (chains: readonly string[]) => string): void
  resume(): void

  /** Puts a stop in force in this process at once, before it is durable. It leaves this overlay when it is committed. */
  impose(stop: KillSwitch): void
  /** Stops imposed here that are not on disk yet. */
  imposed(): readonly KillSwitch[]

  state(): State
  /** Takes in what other processes wrote since. */
  refresh(): void

  approval(id: string): Promise<Approval | undefined>
  approvals(query: ApprovalQuery): Promise<{ items: Approval[]; total: number }>
  /** The pending, approved or rejected approvals with this digest, newest first. */
  approvalsFor(chain: string, digest: string): Promise<Approval[]>
  /** Pending or approved, oldest deadline first, then by id. None is given only when there is none. */
  openApprovals(query: OpenQuery): Promise<Approval[]>
  /** As `openApprovals`, without reading what was asked for. */
  openStandings(query: StandingQuery): Promise<Standing[]>
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
  /** What was decided in first <= seq < end, ascending. */
  decisions(chain: string, range: { first: number; end: number }): Promise<DecisionRow[]>
  /** Ascending. What was allowed and erased later counts too: that it was allowed is never erased. */
  taken(query: TakenQuery): Promise<Taken[]>
  /** The entries of these types that tell of a decision, in order. */
  outcomeEntries(chain: string, decisionId: string, types: readonly EventType[]): Promise<StoredEntry[]>
  /** Who has reported outcomes to a chain. */
  reporters(chain: string): Promise<Reporter[]>
  /** Ascending. */
  unreported(query: UnreportedQuery): Promise<Unreported[]>
  /** Distinct actions of the newest decisions. */
  recentActions(chain: string, decisions: number): Promise<string[]>
  /** Names of all chains. */
  chains(): Promise<string[]>
  /** Reads one row. @throws GateError `audit_unavailable` when the file does not answer */
  probe(): Promise<void>

  /** The newest checkpoint of a chain. */
  lastCheckpoint(chain: string): Promise<StoredCheckpoint | undefined>
  /** What `_system` records of a chain as signed: the newest, and the newest that is itself signed there. */
  recordedHeads(chain: string): Promise<RecordedHead[]>
  /** The newest one up to this number. */
  lastCheckpointUpTo(chain: string, number: number): Promise<StoredCheckpoint | undefined>
  /** The first one that covers the entry, of those up to `maxNumber`. */
  checkpointCovering(chain: string, seq: number, maxNumber?: number): Promise<StoredCheckpoint | undefined>
  /** The newest one that is not larger than this. */
  checkpointWithin(chain: string, size: number): Promise<StoredCheckpoint | undefined>
  /** What is left of the entries that were pruned; undefined where none were. */
  pruned(chain: string): Promise<Prune | undefined>
  /** What is to be kept of the entries before `size`, when they are pruned. */
  stateBefore(chain: string, size: number): Promise<Left>
  /** In the order in which they were signed. */
  checkpointsAfter(number: number, limit: number): Promise<StoredCheckpoint[]>
  /** What each sink of anchors has taken, by its name. */
  deliveries(): Promise<Delivery[]>
  /** The roots of these ranges of the tree over a chain. @throws GateError `audit_unavailable` when an entry is missing */
  treeHashes(chain: string, ranges: readonly Range[]): Promise<Hash[]>

  /**
   * Recomputes a chain, or a part of it, from the file.
   *
   * @param onProgress told how many entries have been found good
   * @param signal ends the work with its reason, where that is done in a thread
   */
  verifyChain(
    request: ChainRequest,
    onProgress?: (checked: number) => void,
    signal?: AbortSignal,
  ): Promise<RangeVerification>
  /** Takes what was erased out of the files that SQLite keeps beside the data file; false while others read from them. */
  scrub(): Promise<boolean>
  /** Names of all chains that there are, or were when something was signed. */
  chainsEver(): Promise<string[]>

  idempotencyUse(keyId: string, route: string, value: string): Promise<IdempotencyUse | undefined>
  /** When each of these keys was used last, by id; keys of which nothing is noted are left out. */
  keyUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** The texts of this set; undefined when they were never stored, or are not kept any more. */
  policySource(tenantId: string, digest: string): Promise<string | undefined>

  /** Waits for the submissions under way, then closes the file. */
  close(): Promise<void>
}
