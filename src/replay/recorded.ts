import type { Approval } from '../approvals/approval.ts'
import type { Grounds, HistoryEnd } from '../audit/grounds.ts'
import type { JsonObject } from '../base/json.ts'
import type { DecidedBy, Unevaluable } from '../gate/decide.ts'
import { contextAndPlan } from '../gate/facts.ts'
import type { Risk } from '../gate/risk.ts'
import type { Decision } from '../policies/set.ts'

/** A decision with its grounds, as it was recorded or as a draft makes it. */
export interface Outcome {
  /** Decision of the policies, also where they are only observed. */
  decision: Decision
  decidedBy: DecidedBy
  rule: string | null
  reason: string
  riskScore: number
  factors: Risk['factors']
  unevaluable: readonly Unevaluable[]
}

/** A decision that was recorded; another program's has neither our grounds nor a score. */
export interface PriorOutcome extends Omit<Outcome, 'decidedBy' | 'riskScore'> {
  decidedBy: DecidedBy | null
  riskScore: number | null
}

/** Place of a decision: of the entries of one chain, seq and time never fall. */
export interface Place {
  chain: string
  seq: number
  tsMs: number
}

/** A request that was decided, or only made, once. */
export interface Recorded extends Place {
  /** Id of the decision, or its place in a file. */
  id: string
  action: string
  /** Principal of the requester. */
  agent: string
  /** Instant of its time facts. */
  evaluatedMs: number
  /** Undefined where it has been erased. */
  asked: { context: JsonObject | undefined; plan: JsonObject | undefined } | undefined
  /** Undefined where no decision is recorded. */
  outcome: PriorOutcome | undefined
  /** Session by the policies that decided: what is left of it when the request has been erased. */
  session: string | null
  /** Extent of the history that the policies could read; null where they read none. */
  historyEnd: HistoryEnd | null
  /** True where the action was allowed and counts as taken. */
  isTaken: boolean
  /** Id of the approval that was requested, waited for or used. */
  approvalId: string | null
  /** Approval that decided; undefined where its record is not at hand. */
  approval: StoodApproval | undefined
}

/** An approval as it stood when it decided. */
export type StoodApproval = Pick<Approval, 'digest' | 'requestedBy' | 'requestedByKey' | 'votes'>

/**
 * Part of a replay that a decision belongs to: before its range, among those that it leaves out, or among those that
 * it reports.
 */
export type Part = 'before' | 'leftOut' | 'reported'

/** An entry of a decision in the trail, as texts, which another thread reads sooner than objects. */
export interface RecordedEntry extends Place {
  part: Part
  /** JSON of its sections. */
  decision: string
  grounds: string
  risk: string
  /** Undefined where it has been erased. */
  request: string | undefined
  approval: StoodApproval | undefined
}

/** The decision of an entry. Its sections were written from these types, and their commitments bind them. */
export function recordedIn({ chain, seq, tsMs, approval, ...texts }: Omit<RecordedEntry, 'part'>): Recorded {
  const { id, action, decision }: { id: string; action: string; decision: Decision } = JSON.parse(texts.decision)
  const { score, factors }: Risk = JSON.parse(texts.risk)
  const grounds: Grounds = JSON.parse(texts.grounds)
  const { rule, reason, decidedBy, unevaluable, observed, caller, evaluatedAt, session, historyEnd, taken } = grounds
  return {
    ...{ chain, seq, tsMs, id, action, approval },
    agent: caller.agent,
    evaluatedMs: Date.parse(evaluatedAt),
    asked: texts.request === undefined ? undefined : contextAndPlan(JSON.parse(texts.request)),
    outcome: {
      decision: (observed as Decision | undefined) ?? decision,
      decidedBy: decidedBy as DecidedBy,
      ...{ rule, reason, factors },
      riskScore: score,
      unevaluable: unevaluable as readonly Unevaluable[],
    },
    session: session ?? null,
    approvalId: grounds.approvalId ?? null,
    historyEnd: historyEnd ?? null,
    isTaken: (taken ?? null) !== null,
  }
}
