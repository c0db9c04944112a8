import { approvalDigest, unboundPath } from '../approvals/approval.ts'
import { countedVotes, type Keys } from '../approvals/votes.ts'
import { trailOf } from '../audit/chain.ts'
import type { Environment } from '../base/environment.ts'
import { type Explanation, explanationOf } from '../gate/explain.ts'
import { NO_HISTORY } from '../gate/history.ts'
import { type Judgement, judge, type Question } from '../gate/judge.ts'
import type { ApiKey } from '../keys/apikey.ts'
import type { ApprovalTerms, PolicySet } from '../policies/set.ts'
import type { Outcome, Recorded } from './recorded.ts'
import { type HistoryUntil, takenActions } from './taken.ts'

/** Earlier actions that facts over time count: those that were allowed then, or those that the draft would have allowed. */
export const HISTORIES = ['recorded', 'draft'] as const
export type HistoryChoice = (typeof HISTORIES)[number]

/** Reasons why a recorded request cannot be decided again. */
export const UNKNOWN = {
  erased: 'the request, or one that its policies count, has been erased',
  pruned: 'its policies count actions of a time that has been pruned, or that was not read',
} as const
export type UnknownReason = keyof typeof UNKNOWN

export type Replayed =
  | { result: 'stopped' }
  | { result: 'unknown'; why: UnknownReason }
  | {
      result: 'decided'
      outcome: Outcome
      /** True where the session may have begun before what was read. */
      isAssumed: boolean
      explain(): Promise<Explanation>
    }

export interface ReplayOptions {
  set: PolicySet
  environment: Environment
  /** By which votes on approvals count. */
  keys: Keys
  /** Extent of a history that no record fixes: all before in the chain, or all that is older in the trail. */
  countsIn: 'chain' | 'trail'
  history: HistoryChoice
  /** Time from which on all requests are given; `-Infinity` for all that ever were. */
  fromMs: number
}

/** Decides requests again, which must be given in the order of their trail, each with those before it. */
export function decider(options: ReplayOptions) {
  const { set, history: choice, fromMs } = options
  const taken = takenActions(set, fromMs)

  async function again(recorded: Recorded): Promise<Replayed> {
    const { asked, outcome: then, action } = recorded
    if (then?.decidedBy === 'kill_switch') return { result: 'stopped' }
    if (asked === undefined) return { result: 'unknown', why: 'erased' }
    const counts = set.evaluator.about(action).overTime.length > 0
    const known = counts ? taken.at(recorded, untilOf(recorded, options)) : undefined
    if (known !== undefined && known.erased > 0) return { result: 'unknown', why: 'erased' }
    if (known?.isCut) return { result: 'unknown', why: 'pruned' }
    const question: Question = {
      ...asked,
      ...{ set, action, agent: recorded.agent, environment: options.environment, tenant: set.tenant },
      killSwitchReason: undefined,
      nowMs: recorded.evaluatedMs,
      history: known?.history ?? NO_HISTORY,
      isExplained: false,
    }
    const judging = judge(question)
    const judgement = judging instanceof Promise ? await judging : judging
    return {
      result: 'decided',
      outcome: withApproval(judgement, recorded, options),
      isAssumed: known?.isSessionCut ?? false,
      explain: async () => explanationOf(set, action, await judge({ ...question, isExplained: true })),
    }
  }

  return {
    /** Takes a request into account that is not decided again: one before the range, or of another action. */
    pass(recorded: Recorded): void {
      if (recorded.isTaken) taken.add(recorded)
    },
    async decide(recorded: Recorded): Promise<Replayed> {
      const replayed = await again(recorded)
      const isDecided = choice === 'draft' && replayed.result === 'decided'
      if (isDecided ? isTakenBy(set, replayed.outcome) : recorded.isTaken) taken.add(recorded)
      return replayed
    },
  }
}

function untilOf({ historyEnd, seq, tsMs }: Recorded, { countsIn }: ReplayOptions): HistoryUntil {
  if (historyEnd === null) return countsIn === 'chain' ? { by: 'seq', end: seq } : { by: 'time', end: tsMs }
  return typeof historyEnd === 'number' ? { by: 'seq', end: historyEnd } : { by: 'time', end: Date.parse(historyEnd) }
}

/** True where the draft lets the action run, as for a check. Nobody knows whether people would have approved others. */
function isTakenBy({ mode }: PolicySet, { decision, decidedBy }: Outcome): boolean {
  return (mode === 'observe' || decision === 'allow') && decidedBy !== 'invalid_context'
}

/** The outcome; where an approval decided what the policies held, it decides what the draft holds, if it meets its terms. */
function withApproval({ outcome, risk }: Judgement, recorded: Recorded, options: ReplayOptions): Outcome {
  const { decision, decidedBy, rule, reason, unevaluable, hold } = outcome
  const again = { rule, riskScore: risk.score, factors: risk.factors, unevaluable }
  const then = recorded.outcome
  if (hold === null || then?.decidedBy !== 'approval' || !meets(recorded, hold, options))
    return { decision, decidedBy, reason, ...again }
  return { decision: then.decision, decidedBy: 'approval', reason: then.reason, ...again }
}

/** True when the approval is for this request by these terms, and enough votes count; a rejection needs no quorum. */
function meets(recorded: Recorded, terms: ApprovalTerms, { keys }: ReplayOptions): boolean {
  const { approval, outcome, asked, chain, action, evaluatedMs } = recorded
  // Denied without one, since too many others were pending; or its record is not at hand.
  if (approval === undefined || asked === undefined) return true
  const { context = {}, plan = null } = asked
  const bound = { chain: trailOf(chain), action, context, plan, requester: approval.requestedBy }
  const paths = terms.unbound.flatMap((text) => [unboundPath(text) ?? []])
  if (approvalDigest(bound, paths) !== approval.digest) return false
  return (
    outcome?.decision === 'deny' ||
    countedVotes(approval, terms, keysAt(keys, evaluatedMs), evaluatedMs).size >= terms.quorum
  )
}

/** The keys as they were: one that was revoked since was active. */
function keysAt(keys: Keys, atMs: number): Keys {
  const then = (key: ApiKey): ApiKey =>
    key.revokedAt !== null && Date.parse(key.revokedAt) > atMs ? { ...key, revokedAt: null } : key
  return new Map(Array.from(keys, ([id, key]) => [id, then(key)]))
}
