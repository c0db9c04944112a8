import type { Approval, ApprovalStatus, OpenStatus } from '../approvals/approval.ts'
import type { TrailPlace } from '../audit/chain.ts'
import type { Grounds } from '../audit/grounds.ts'
import type { LogKey } from '../evidence/trust.ts'
import type { Decision } from '../policies/set.ts'
import type { Awaitable } from './steps.ts'

/** Scope of allowed actions: all agents of a chain, one agent, or one session of an agent. */
export interface TakenBy {
  agent: string | null
  /** Null when the agent is null. */
  session: string | null
}

/** first <= seq < end */
export interface SeqRange {
  first: number
  end: number
}

/** Number of rows at most, from a range of a chain. */
interface ChainPart extends SeqRange {
  chain: string
  limit: number
}

export interface TakenQuery extends TakenBy, ChainPart {}

/** Allowed action, with the seq of its decision. */
export interface Taken {
  seq: number
  action: string
}

/** Allowed actions of a trail, by time. */
export interface TrailTakenQuery extends TakenBy {
  trail: string
  /** From included, to excluded, in ms. */
  fromMs: number
  toMs: number
  /** Only actions behind this one, by time and place. */
  after?: TrailTaken | undefined
  /** Number of actions at most; a file, which has a fleet's trail only as a copy, gives all. */
  limit: number
}

export interface TrailTaken extends Taken {
  chain: string
  tsMs: number
}

/** Decision without its request. */
export interface DecisionRow {
  ts: string
  decision: Decision
  /** Rule that decided, if any. */
  rule: string | null
  decidedBy: string
  /** Decision of the policies, where they were only observed. */
  observed: string | undefined
  /** Note of the set in shadow; undefined where none was. */
  shadow: Grounds['shadow']
}

/** Action of a decision, with the place of its entry. */
export interface DecidedAction {
  action: string
  seq: number
  ts: string
}

/** Agent that reports the outcomes of its allowed actions, with the place of the first outcome that it reported. */
export interface Reporter {
  agent: string
  chain: string
  seq: number
  ts: string
}

export interface UnreportedQuery extends ChainPart {
  agent: string
}

/** Allow of a chain without any report about it in the trail. */
export interface Unreported extends Taken {
  decisionId: string
}

export interface PageQuery {
  chain: string
  order: 'asc' | 'desc'
  limit: number
  offset: number
  /** Only entries with a smaller seq. */
  before?: number | undefined
  /** Only entries with this seq or a greater one. */
  since?: number | undefined
  eventType?: string | undefined
  /** Timestamps in our form; from included, to excluded. */
  from?: string | undefined
  to?: string | undefined
  /** Sections to read with the entries; all of them by default. */
  sections?: readonly string[] | undefined
  /** Ends the page early, after the entry with which its stored JSON exceeds this. */
  maxBytes?: number | undefined
}

/** A page of a trail, with its lanes. */
export interface TrailQuery extends Omit<PageQuery, 'chain' | 'before' | 'since'> {
  /** Name of the trail, or of one lane. */
  trail: string
  /** Only entries before this one, by the order of trails. */
  before?: TrailPlace | undefined
}

export interface ApprovalQuery {
  chain: string
  /** Stored statuses, except of the approvals in `actual`. */
  statuses: readonly ApprovalStatus[]
  /** Ids of open approvals that have another status by now, with no entry that records it yet. */
  actual?: { expired: readonly string[]; cancelled: readonly string[] } | undefined
  /** Order of the page: earliest deadline first, or oldest first. @default 'deadline' */
  order?: 'deadline' | 'age' | undefined
  limit: number
  offset: number
  requestedBy?: string | undefined
  /** Ends the page early, after the approval with which its stored JSON exceeds this. */
  maxBytes?: number | undefined
}

export interface OpenQuery {
  /** Stored statuses. */
  statuses: readonly OpenStatus[]
  /** Limits the query to approvals whose deadline, stops not counted, is not later. */
  dueAt?: string | undefined
  limit: number
  /** Limits the query to one chain. */
  chain?: string | undefined
  /** Limits the query to approvals after this one. */
  after?: Pick<Approval, 'expiresAt' | 'id'> | undefined
  /** Ends the page early, as in ApprovalQuery: fewer than `limit`, though more may follow. */
  maxBytes?: number | undefined
}

export interface StandingQuery extends Pick<OpenQuery, 'statuses' | 'dueAt' | 'limit' | 'after'> {
  chain: string
}

export interface ChainRequest {
  chain: string
  /** The whole chain by default. */
  range?: SeqRange | undefined
  /** False skips the content of entries: chain, tree and signatures only. */
  sections: boolean
  /** Log keys whose signatures count, each up to its end; by default those of the instance. */
  logKeys?: readonly LogKey[] | undefined
  /**
   * Public keys that somebody else may hold: what they alone have signed counts as unsigned. By default those that the
   * instance has revoked.
   */
  revoked?: ReadonlySet<string> | undefined
  /** True where the caller gave the keys: a chain of which they signed nothing is unsigned. */
  isPinned?: boolean
  /** Newest head of the chain in the anchors. @param root in `sha256:` form */
  anchor: { size: number; root: string } | null
  /** Number of entries that anchors cover. */
  anchoredSize: number
}

/** One state of the store. */
export interface Snapshot {
  /** Number of entries of a chain: one more than its newest seq. */
  length(chain: string): Awaitable<number>
  /** First seq below `end` whose entry is not before this time. The search begins at `near`, a probable result. */
  seqNotBefore(chain: string, end: number, atMs: number, near: number | undefined): Awaitable<number>
  /** Allowed actions, ascending. Erased ones count too: erasing keeps the fact that an action was allowed. */
  taken(query: TakenQuery): Awaitable<Taken[]>
  /** Allowed actions of all chains of a trail, by time. */
  takenInTrail(query: TrailTakenQuery): Awaitable<TrailTaken[]>
  /** Time of the newest decision that each counter was held for, in ms; absent where none was. */
  floors(counters: readonly string[]): Awaitable<ReadonlyMap<string, number>>
  /** Request of a decision as JSON; undefined when it was erased, or there is no such decision. */
  requestAt(chain: string, seq: number): Awaitable<string | undefined>
}
