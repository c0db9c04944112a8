import type { Approval, Standing } from '../approvals/approval.ts'
import type { Head } from '../audit/chain.ts'
import type { StoredEntry } from '../audit/entry.ts'
import type { EventType } from '../audit/events.ts'
import type { Hash, Range } from '../audit/merkle.ts'
import type { RangeVerification } from '../audit/range.ts'
import type { SealKey } from '../audit/seal.ts'
import type { Left, Prune } from '../evidence/prune.ts'
import type { ApiKey } from '../keys/apikey.ts'
import type { Tenant } from '../keys/tenant.ts'
import type { KillSwitch, PlacedStop } from '../killswitch/killswitch.ts'
import type { Fleet } from './fleet.ts'
import type {
  ApprovalQuery,
  ChainRequest,
  DecisionRow,
  OpenQuery,
  PageQuery,
  Reporter,
  SeqRange,
  Snapshot,
  StandingQuery,
  TrailQuery,
  Unreported,
  UnreportedQuery,
} from './queries.ts'
import type { PolicyRecord, RecordedHead, RecordKind, SigningKey } from './records.ts'
import type { Awaitable, Steps } from './steps.ts'
import type { Committed, Conflict, Delivery, IdempotencyUse, StoredCheckpoint, Submission } from './submission.ts'

/** Cached state: as new as the last commit of this process, behind other processes until `refresh`. */
export interface State {
  tenants: ReadonlyMap<string, Tenant>
  keys: ReadonlyMap<string, ApiKey>
  keysByHash: ReadonlyMap<string, ApiKey>
  signingKeys: ReadonlyMap<string, SigningKey>
  policies: ReadonlyMap<string, PolicyRecord>
  /** All switches: recovered ones too, and those triggered here that are not on disk yet. */
  switches: readonly PlacedStop[]
}

/**
 * The key of seals for a log key; for undefined, the one in place, made where there is none. Undefined when the log key of
 * this id is not at hand.
 */
export type SealKeys = (id: string | undefined) => SealKey | undefined

/** Hashes of consecutive entries, the newest of their chain last. */
export interface WrittenHashes {
  /** Seq of the first one. */
  first: number
  hashes: readonly string[]
}

/** Kinds of records that are held in memory. */
export type HeldKind = Exclude<RecordKind, 'approval'>

/**
 * A row that another process changed, and that does not follow from its entries. Nothing obeys it; commits that rely on
 * the record are refused, unless they only restrain.
 */
export interface Alteration {
  kind: HeldKind | 'instance'
  id: string
  /** Names the record and the fault. */
  message: string
  /** For a stop, the chains that it may cover; undefined for all. */
  targets?: readonly string[] | undefined
  /** True for the log key in use and the one that follows it by a signed rotation: nothing is sealed meanwhile. */
  isRotation?: boolean
  /** True where it is a rotation, and only the key that it leads to is not at hand. */
  awaitsKey?: boolean
}

/**
 * Durable state and audit chains. A commit that was answered is on disk and survives a power cut; it
 * is seen by every later read of any process. Reads never wait for writers.
 */
export interface Store {
  /** Name of this instance, fixed at its first start; every chain's genesis binds it. */
  readonly origin: string
  /** The only tenant that the login serves, whose rows alone it sees; undefined for all. */
  readonly tenant: string | undefined
  /** Where earlier actions are counted: in one chain, by seq, or over all lanes of a trail, by time and under counters. */
  readonly countsIn: 'chain' | 'trail'
  /** The sidecars that share the store; undefined for a file, and for a command. */
  readonly fleet: Fleet | undefined

  /**
   * Checks the guards, applies the writes and appends the entries in one transaction, or does nothing.
   * The only way to write. Submissions that arrive together share one transaction and one fsync;
   * a conflict refuses only its own submission.
   *
   * @param isAbandoned asked right before the write: true when nobody waits for the result, and nothing is to be written
   * @throws GateError `audit_unavailable` when the file cannot be written (nothing of the submission counts), `overloaded`
   *   when another process has held the write lock for too long, `forbidden` for what the login does not serve.
   */
  commit(submission: Submission, isAbandoned?: () => boolean): Promise<Committed | Conflict>
  /** The write of milliseconds that is under way, for which every other one waits; it resolves at its end. */
  largeWrite(): Promise<unknown> | undefined
  /** Refuses every commit from now on, with `audit_unavailable` and the reason for its chains; other members work. */
  suspend(reasonFor: (chains: readonly string[]) => string): void
  resume(): void

  /**
   * Keeps others from using these counters for a moment, for a decision that they have overtaken. A file has no others.
   *
   * @param reservation a name that nobody else uses
   */
  reserve(counters: readonly string[], reservation: string): Promise<void>

  /** Puts a stop in force in this process at once, before it is durable. It leaves this overlay when it is committed. */
  impose(stop: KillSwitch): void
  /** Takes back a stop that was imposed, where another one over the same is in force. */
  withdraw(stop: KillSwitch): void
  /** Stops imposed here that are not on disk yet. */
  imposed(): readonly KillSwitch[]

  state(): State
  /** Rows that were altered in the file since the start, while they differ from the chains. */
  altered(): readonly Alteration[]
  /** Looks whether the entries that this process wrote lately are still there. @throws when the file cannot be read */
  compareChains(): Awaitable<void>
  /** Chains of which such entries are gone, or to which others appended, with the fault; an append clears it. */
  alteredChains(): ReadonlyMap<string, string>
  /**
   * True while other processes have not been heard of for too long, and commits are refused. Never for a file, which each
   * commit reads.
   */
  isStale(): boolean
  /** Reads what other processes wrote since. */
  refresh(): Awaitable<void>
  /** False for a chain that another sidecar of the fleet signs. */
  tends(chain: string): boolean

  approval(id: string): Promise<Approval | undefined>
  approvals(query: ApprovalQuery): Promise<{ items: Approval[]; total: number }>
  /** Pending, approved or rejected approvals with this digest, newest first. */
  approvalsFor(chain: string, digest: string): Promise<Approval[]>
  /** Pending or approved approvals, by deadline, then by id. Empty only when there is none. */
  openApprovals(query: OpenQuery): Promise<Approval[]>
  /** Like `openApprovals`, without reading the requests. */
  openStandings(query: StandingQuery): Promise<Standing[]>
  /** Number of pending approvals in the chain that this principal asked for. */
  pendingOf(chain: string, requestedBy: string): Promise<number>
  /** True when it is still stored as pending; does not read it. */
  isPending(approval: Pick<Approval, 'id' | 'chain' | 'digest'>): Promise<boolean>

  entry(id: string): Promise<StoredEntry | undefined>
  entryAt(chain: string, seq: number): Promise<StoredEntry | undefined>
  /** Entries with fromSeq <= seq, ascending; ends early after the entry at which their JSON exceeds `maxBytes`. */
  entriesFrom(chain: string, fromSeq: number, limit: number, maxBytes?: number): Promise<StoredEntry[]>
  /** Header texts of those entries alone. */
  headersFrom(chain: string, fromSeq: number, limit: number): Promise<string[]>
  /** Number of entries of each of these chains: one more than its newest seq. */
  lengths(chains: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Seqs, ascending, of the entries of these types with first <= seq < end. It does not find decisions. */
  seqsOfTypes(chain: string, types: readonly string[], range: SeqRange): Promise<number[]>
  /** A page of one chain. */
  page(query: PageQuery): Promise<{ items: StoredEntry[]; total: number }>
  trailPage(query: TrailQuery): Promise<{ items: StoredEntry[]; total: number }>
  /** Range first <= seq < end of the entries with from <= ts < to; empty when first equals end. */
  seqRange(chain: string, from: string, to: string): Promise<SeqRange>
  /** Entries that changed one record, in order. */
  changesOf(kind: RecordKind, id: string): Promise<StoredEntry[]>
  /** First seq whose entry is not older than this time; one past the newest when there is none. */
  seqNotBefore(chain: string, ts: string): Promise<number>
  /** Decisions with first <= seq < end, ascending. */
  decisions(chain: string, range: SeqRange): Promise<DecisionRow[]>
  /** Reads one state of the store; of a file without a turn of the event loop between the reads. */
  snapshot<T>(work: (snapshot: Snapshot) => Steps<T>): Promise<T>
  /** Entries of these types in a trail that refer to a decision, in order. */
  outcomeEntries(trail: string, decisionId: string, types: readonly EventType[]): Promise<StoredEntry[]>
  /** Agents that have reported outcomes to a trail, by name. */
  reporters(trail: string): Promise<Reporter[]>
  /** Allows of a chain without an outcome in its trail, ascending. */
  unreported(query: UnreportedQuery): Promise<Unreported[]>
  /** Distinct actions of the newest decisions of a trail. */
  recentActions(trail: string, decisions: number): Promise<string[]>
  /** Faults of the chains that were appended to without the log key, as far as it is at hand. */
  unsealed(): Promise<string[]>
  /**
   * The newest entry of a chain, appended with the log key, as far as that is at hand.
   *
   * @throws GateError `audit_unavailable` for one that was not
   */
  sealedHead(chain: string): Promise<Head | undefined>
  /**
   * Hashes of the newest entries of a chain, as this process wrote them, from this seq on or a later one; earlier ones
   * are forgotten. Undefined for a chain that this process has not written.
   */
  writtenHashes(chain: string, from: number): WrittenHashes | undefined
  /** Names of all chains. */
  chains(): Promise<string[]>
  /** Chains of a trail that have entries: its own, and its lanes. */
  lanes(trail: string): Promise<string[]>
  /** Reads one row. @throws GateError `audit_unavailable` when the file does not answer */
  probe(): Promise<void>

  /** Newest checkpoint of a chain. */
  lastCheckpoint(chain: string): Promise<StoredCheckpoint | undefined>
  /** Heads of a chain in `_system`: the newest, and the newest that is itself signed there. */
  recordedHeads(chain: string): Promise<RecordedHead[]>
  /** Newest checkpoint of a chain up to this number. */
  lastCheckpointUpTo(chain: string, number: number): Promise<StoredCheckpoint | undefined>
  /** First checkpoint that covers the entry, of those up to `maxNumber`. */
  checkpointCovering(chain: string, seq: number, maxNumber?: number): Promise<StoredCheckpoint | undefined>
  /** Newest checkpoint that is not larger than this. */
  checkpointWithin(chain: string, size: number): Promise<StoredCheckpoint | undefined>
  /** Record of the pruned entries; undefined when none were pruned. */
  pruned(chain: string): Promise<Prune | undefined>
  /** State to keep of the entries before `size` when they are pruned. */
  stateBefore(chain: string, size: number): Promise<Left>
  /** Checkpoints in the order in which they were signed. */
  checkpointsAfter(number: number, limit: number): Promise<StoredCheckpoint[]>
  /** Newest delivery to each sink of anchors, by name. */
  deliveries(): Promise<Delivery[]>
  /** Roots of these ranges of the tree over a chain. @throws GateError `audit_unavailable` when an entry is missing */
  treeHashes(chain: string, ranges: readonly Range[]): Promise<Hash[]>

  /**
   * Recomputes a chain, or a part of it, from the file.
   *
   * @param onProgress receives the number of entries found good so far
   * @param signal aborts the work with its reason, when a thread does it
   */
  verifyChain(
    request: ChainRequest,
    onProgress?: (checked: number) => void,
    signal?: AbortSignal,
  ): Promise<RangeVerification>
  /** Removes erased data from the files that SQLite keeps beside the data file; false while others read from them. */
  scrub(): Promise<boolean>
  /** Names of all chains that exist, or existed when something was signed. */
  chainsEver(): Promise<string[]>

  idempotencyUse(keyId: string, route: string, value: string): Promise<IdempotencyUse | undefined>
  /** Time of the last use of each key, by id; keys without a recorded use are left out. */
  keyUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Texts of this set; undefined when they were never stored, or are no longer kept. */
  policySource(tenantId: string, digest: string): Promise<string | undefined>

  /** Waits for the submissions under way, then closes the file. */
  close(): Promise<void>
}
