import type { Approval, Standing } from '../approvals/approval.ts'
import type { Head } from '../audit/chain.ts'
import type { PreparedEntry } from '../audit/draft.ts'
import type { StoredEntry } from '../audit/entry.ts'
import type { EventType } from '../audit/events.ts'
import type { RedactionTarget } from '../audit/redaction.ts'
import type { SealKey } from '../audit/seal.ts'
import type {
  ApprovalQuery,
  DecidedAction,
  DecisionRow,
  OpenQuery,
  PageQuery,
  Reporter,
  SeqRange,
  StandingQuery,
  Taken,
  TakenQuery,
  Unreported,
  UnreportedQuery,
} from './queries.ts'
import type { RecordWrite } from './records.ts'
import type { Source } from './source.ts'
import type { Awaitable } from './steps.ts'
import type {
  Delivery,
  IdempotencyUse,
  KeyUse,
  Placed,
  StoredCheckpoint,
  StoredPolicies,
  TreeNode,
} from './submission.ts'

/** Result of a statement that gives nothing. */
type Done = Awaitable<unknown>

/** All statements over the tables of an engine. Only commit.ts writes, inside its transaction. */
export interface Tables extends Source {
  instance: Source['instance'] & {
    origin(): Awaitable<string | undefined>
    nextStateVersion(): Awaitable<number>
  }
  entries: Source['entries'] & {
    byId(id: string): Awaitable<StoredEntry | undefined>
    lengths(chains: readonly string[]): Awaitable<ReadonlyMap<string, number>>
    /** Entries with fromSeq <= seq, ascending; ends early after the entry at which their JSON exceeds `maxBytes`. */
    from(chain: string, seq: number, limit: number, maxBytes?: number): Awaitable<StoredEntry[]>
    headersFrom(chain: string, seq: number, limit: number): Awaitable<string[]>
    page(query: PageQuery): Awaitable<{ items: StoredEntry[]; total: number }>
    /** First seq below `end` whose entry is not before this time. The search begins at `near`, a probable result. */
    firstNotBefore(chain: string, end: number, atMs: number, near: number | undefined): Awaitable<number>
    /** True when this is still the head: each commit asks, and a head costs more to read. */
    isHead(chain: string, head: Head): Awaitable<boolean>
    /** @param salts of the sections in the order of their names */
    append(entry: StoredEntry, prepared: PreparedEntry, salts: Uint8Array): Done
    eraseSections(chain: string, target: RedactionTarget): Done
  }
  records: Source['records'] & {
    put(write: RecordWrite, version: number): Done
    approval: { remove(id: string): Done }
  }
  pruned: Source['pruned'] & {
    /** Deletes the entries before `size`, with which the chain then begins. */
    prune(chain: string, size: number): Done
  }
  seals: Source['seals'] & {
    put(origin: string, key: SealKey, chain: string, head: Head): Done
    chains(): Awaitable<string[]>
    remove(chain: string): Done
  }
  systemHeads: Source['systemHeads'] & {
    /** Chains that were signed at any time. */
    chains(): Awaitable<ReadonlySet<string>>
  }
  checkpoints: Source['checkpoints'] & {
    last(chain: string): Awaitable<StoredCheckpoint | undefined>
    covering(chain: string, seq: number, maxNumber?: number): Awaitable<StoredCheckpoint | undefined>
    within(chain: string, size: number): Awaitable<StoredCheckpoint | undefined>
    lastUpTo(chain: string, number: number): Awaitable<StoredCheckpoint | undefined>
    after(number: number, limit: number): Awaitable<StoredCheckpoint[]>
    chains(): Awaitable<string[]>
    put(chain: string, size: number, note: string, completed: readonly TreeNode[]): Done
    /** Keeps only the frontier of the tree over the entries before `size`, and the last of their checkpoints. */
    prune(chain: string, size: number, frontier: readonly TreeNode[]): Done
    anchored(): Awaitable<Delivery[]>
    putAnchored(delivery: Delivery): Done
  }
  decisions: {
    /** Decisions without their requests. */
    rows(chain: string, range: SeqRange): Awaitable<DecisionRow[]>
    requestAt(chain: string, seq: number): Awaitable<string | undefined>
    /** Newest decisions of a chain, newest first. */
    newest(chain: string, limit: number): Awaitable<DecidedAction[]>
    taken(query: TakenQuery): Awaitable<Taken[]>
  }
  outcomes: {
    /** Entries of these types in a trail that refer to the decision, in no order. */
    told(trail: string, decisionId: string, types: readonly EventType[]): Awaitable<Pick<Placed, 'chain' | 'seq'>[]>
    /** Agents that have reported outcomes to a trail, with the first one in each of its chains. */
    reporters(trail: string): Awaitable<Reporter[]>
    unreported(query: UnreportedQuery): Awaitable<Unreported[]>
  }
  approvals: {
    forDigest(chain: string, digest: string): Awaitable<Approval[]>
    isPending(approval: Pick<Approval, 'id' | 'chain' | 'digest'>): Awaitable<boolean>
    pendingOf(chain: string, requestedBy: string): Awaitable<number>
    open(query: OpenQuery): Awaitable<Approval[]>
    standings(query: StandingQuery): Awaitable<Standing[]>
    list(query: ApprovalQuery): Awaitable<{ items: Approval[]; total: number }>
  }
  idempotency: {
    find(keyId: string, route: string, value: string, nowMs: number): Awaitable<IdempotencyUse | undefined>
    put(use: IdempotencyUse): Done
  }
  keyUses: {
    of(keyIds: readonly string[]): Awaitable<ReadonlyMap<string, string>>
    put(uses: readonly KeyUse[]): Done
  }
  policySources: {
    get(tenantId: string, digest: string): Awaitable<string | undefined>
    /** Stores the set, and deletes the oldest ones beyond the limits. */
    put(stored: StoredPolicies): Done
  }
  trials: { put(at: string, bytes: number): Done }
  transaction: {
    isOpen(): boolean
    savepoint(): Done
    /** Keeps what was done since the savepoint. */
    release(): Done
    /** Undoes what was done since the savepoint. */
    undo(): Done
  }
  /** Drops what is known of chains and texts, which a rollback may have unmade or another process altered. */
  forget(): void
  /** True for an error of the database itself, with which a whole group is lost. */
  isFailure(error: unknown): boolean
  /** Refusal of a second pending approval for an equal request, by the unique index. */
  isPendingTwice(error: unknown): boolean
}
