import type { Approval, ApprovalStatus, OpenStatus } from '../approvals/approval.ts'
import type { LogKey } from '../evidence/trust.ts'
import type { Decision } from '../policy/set.ts'

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

/** What was decided, without the request. */
export interface DecisionRow {
  ts: string
  decision: Decision
  /** The rule that decided, if one did. */
  rule: string | null
  decidedBy: string
}

/** An agent that tells what became of what it was allowed. */
export interface Reporter {
  agent: string
  /** The seq of the first outcome that it reported. */
  since: number
}

export interface UnreportedQuery {
  chain: string
  agent: string
  /** first <= seq < end */
  first: number
  end: number
  limit: number
}

/** An allow of which nothing has been told. */
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
  /** The one whose deadline comes first is the first, or the one that was asked for first. @default 'deadline' */
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

export interface StandingQuery extends Pick<OpenQuery, 'statuses' | 'dueAt' | 'limit' | 'after'> {
  chain: string
}

export interface ChainRequest {
  chain: string
  /** first <= seq < end; without it, everything that there is. */
  range?: { first: number; end: number } | undefined
  /** False leaves the content of entries aside: chain, tree and signatures only. */
  sections: boolean
  /** The log keys whose signatures count. */
  logKeys: readonly LogKey[]
  /** The newest head of the chain that lies elsewhere. @param root in `sha256:` form */
  anchor: { size: number; root: string } | null
  /** So many entries are held by anchors. */
  anchoredSize: number
}
