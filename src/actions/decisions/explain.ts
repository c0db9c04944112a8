import { ownerOf, trailOf } from '../../audit/chain.ts'
import type { StoredEntry } from '../../audit/entry.ts'
import { canonicalJson } from '../../base/canonical.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { explanationOf } from '../../gate/explain.ts'
import { contextAndPlan } from '../../gate/facts.ts'
import { NO_HISTORY } from '../../gate/history.ts'
import { type Judgement, judge } from '../../gate/judge.ts'
import { inMode } from '../../gate/observe.ts'
import { shown } from '../../gate/shown.ts'
import { covers, reasonOf } from '../../killswitch/killswitch.ts'
import { domainOf, type PolicySet } from '../../policies/set.ts'
import type { Caller, Deps, HistoryReader, Pauses } from '../deps.ts'
import type { Decided } from '../gate/answer.ts'
import { inSlices } from '../gate/judge.ts'
import { type FindSet, type Unexplained, unexplained } from '../policies/history.ts'
import { decidedIn, decisionOfTrail, recordedDecision, requestIn } from './decisions.ts'

export interface ExplainDeps extends Deps, Pauses {
  history: HistoryReader
  findSet: FindSet
}

/**
 * A decision of the caller's trail with its explanation, by the decision's id or its entry's.
 *
 * @throws GateError `not_found`; `redacted` when the decision itself has been erased; `overloaded`
 */
export async function explainedDecision(deps: ExplainDeps, { chain }: Caller, id: string) {
  return explainEntry(deps, await decisionOfTrail(deps.store, chain, id))
}

/** The record of a decision and its explanation, reevaluated by the policies that decided. */
export async function explainEntry(deps: ExplainDeps, entry: StoredEntry) {
  return { ...(await recordedDecision(deps, entry)), ...(await reproduce(deps, entry)) }
}

/** The reevaluation of a recorded decision, which stays what was decided; or the reason why it cannot be explained. */
async function reproduce(deps: ExplainDeps, entry: StoredEntry) {
  const decided = decidedIn(entry)
  const { policyDigest } = decided.grounds
  const { chain } = entry.header
  const request = requestIn(entry)
  if (request === null) return without(unexplained('redacted', null))
  const found = policyDigest === null ? { set: undefined } : await deps.findSet(ownerOf(chain).tenantId, policyDigest)
  if ('code' in found) return without(found)
  const judgement = await judgeAgain(deps, chain, { decided, request, set: found.set })
  if (judgement === undefined) return without(unexplained('redacted', null))
  const differences = differencesOf(decided, judgement, found.set)
  return {
    explanation: explanationOf(found.set, decided.decision.action, judgement),
    reproduced: differences.length === 0,
    differences,
    unexplained: null,
  }
}

function without(why: Unexplained) {
  return { explanation: null, reproduced: null, differences: [], unexplained: why }
}

/**
 * The recorded request judged as then: by those policies, at that time, for that caller, under the stop that decided.
 * Undefined where a counted request has been erased.
 */
async function judgeAgain(
  deps: ExplainDeps,
  chain: string,
  { decided, request, set }: { decided: Decided; request: JsonObject; set: PolicySet | undefined },
): Promise<Judgement | undefined> {
  const { grounds, decision } = decided
  const { tenantId, environment } = ownerOf(chain)
  const query = {
    agent: grounds.caller.agent,
    nowMs: Date.parse(grounds.evaluatedAt),
    action: decision.action,
    ...contextAndPlan(request),
  }
  const { historyEnd } = grounds
  const { pause } = deps
  const seen = set && historyEnd !== null ? await deps.history.at(set, chain, query, historyEnd) : undefined
  if (seen !== undefined && seen.erased > 0) return undefined
  return judge({
    set,
    killSwitchReason: grounds.decidedBy === 'kill_switch' ? stopThen(deps, chain, decided, set) : undefined,
    tenant: tenantId,
    environment,
    ...query,
    history: seen?.history ?? NO_HISTORY,
    ...(pause && { pause: inSlices(() => pause(tenantId)) }),
  })
}

/** The recorded reason, if it is that of a stop which was in force and covers the action. */
function stopThen(deps: Deps, chain: string, { decision, grounds }: Decided, set: PolicySet | undefined) {
  const { action } = decision
  const subject = { chain: trailOf(chain), action, domain: set && domainOf(set, action) }
  const { evaluatedAt, reason } = grounds
  const stop = deps.store
    .state()
    .switches.find(
      (candidate) =>
        reasonOf(candidate) === reason &&
        covers(candidate, subject) &&
        candidate.triggeredAt <= evaluatedAt &&
        (candidate.recoveredAt === null || evaluatedAt <= candidate.recoveredAt),
    )
  return stop && reasonOf(stop)
}

/**
 * Differences between record and reevaluation. An approval decides after the policies, which must have held the
 * request.
 */
function differencesOf(
  { decision, risk, grounds }: Decided,
  { outcome: ruling, risk: again }: Judgement,
  set: PolicySet | undefined,
) {
  const outcome = inMode(set, ruling)
  const byApproval = grounds.decidedBy === 'approval'
  const isHeld = outcome.decision === 'require_approval'
  // The reason of a hold may continue with faults of approvals.
  const isSameReason = isHeld && grounds.reason.startsWith(`${outcome.reason} `)
  const ofOutcome: [member: string, recorded: unknown, again: unknown][] = byApproval
    ? [['decision', 'require_approval', ruling.decision]]
    : [
        ['decision', decision.decision, outcome.decision],
        ['observed', grounds.observed ?? null, outcome.observed ?? null],
        ['decidedBy', grounds.decidedBy, outcome.decidedBy],
        ['reason', grounds.reason, isSameReason ? grounds.reason : outcome.reason],
        ['retry', grounds.retry, outcome.retry],
      ]
  const all: typeof ofOutcome = [
    ...ofOutcome,
    ['rule', grounds.rule, outcome.rule],
    ['riskScore', risk.score, again.score],
    ['factors', risk.factors, again.factors],
    ['unevaluable', grounds.unevaluable, outcome.unevaluable],
    ['planValidated', grounds.planValidated, outcome.planValidated],
  ]
  return all
    .filter(([, recorded, now]) => canonicalJson(recorded) !== canonicalJson(now))
    .map(([member, recorded, now]) => ({ member, recorded: shown(recorded as Json), again: shown(now as Json) }))
}
