import type { Approval } from '../../approvals/approval.ts'
import { DAY_MS, formatTimestamp } from '../../base/time.ts'
import type { Decision } from '../../policies/set.ts'
import { decisionEntry } from '../decisions/decisions.ts'
import { MAX_SEARCHED } from '../decisions/list.ts'
import { decisionsBackwards, type RecentDecision } from '../decisions/recent-decisions.ts'
import type { Caller, Deps } from '../deps.ts'
import { type Decided, decidedOf } from '../gate/answer.ts'
import { outcomeOf } from '../outcomes/outcome-of.ts'
import { UNEXPLAINED } from '../policies/history.ts'
import type { FindRule, RuleText } from '../policies/rule-text.ts'
import { votesOf } from './may-vote.ts'
import { visibleApproval } from './visible-approvals.ts'

export interface BackgroundDeps extends Deps {
  findRule: FindRule
}

/** Limits of the decisions shown for the agent and for the session. */
const OF_AGENT = 10
const OF_SESSION = 20

/** Reasons why the rule behind a hold cannot be shown. */
export const RULE_UNSHOWN = {
  no_rule: 'no rule held the action: its risk, or the default of the policies did',
  redacted: 'the decision has been erased or pruned',
  policy_not_kept: UNEXPLAINED.policy_not_kept,
  policy_altered: UNEXPLAINED.policy_altered,
  policy_unloadable: UNEXPLAINED.policy_unloadable,
} as const
type RuleUnshown = keyof typeof RULE_UNSHOWN

/**
 * Context for the decision on an approval: requester, its earlier actions, the rule of the hold, and whether this key
 * may vote.
 *
 * @throws GateError `not_found`; `audit_unavailable` for an approval that is not what its entries make of it
 */
export async function approvalBackground(deps: BackgroundDeps, { chain, key, tenantId }: Caller, id: string) {
  const { store } = deps
  const approval = await visibleApproval(deps, { chain, key }, id)
  const entry = await decisionEntry(store, approval.decisionId)
  const held = entry?.header.chain === chain ? decidedOf(entry) : undefined
  const { requestedBy: principal, requestedByKey: keyId } = approval
  const past = await pastOf(deps, approval, held?.grounds.session ?? null)
  const shown = await ruleOf(deps, tenantId, approval, held)
  return {
    approvalId: approval.id,
    policyDigest: held?.grounds.policyDigest ?? null,
    ...('code' in shown ? { rule: null, unshown: because(shown.code) } : { rule: shown, unshown: null }),
    agent: { principal, name: store.state().keys.get(keyId)?.name ?? null, keyId, ...past.agent },
    session: past.session,
    searchedTo: past.searchedTo,
    approvers: { groups: approval.approvers, quorum: approval.quorum, selfApproval: approval.selfApproval },
    ...votesOf(store, { approval, key, nowMs: deps.clock() }),
  }
}

async function ruleOf(
  { findRule }: BackgroundDeps,
  tenantId: string,
  { rule }: Approval,
  held: Decided | undefined,
): Promise<RuleText | { code: RuleUnshown }> {
  if (held === undefined) return { code: 'redacted' }
  const { policyDigest } = held.grounds
  return rule === null || policyDigest === null ? { code: 'no_rule' } : findRule(tenantId, policyDigest, rule)
}

function because(code: RuleUnshown) {
  return { code, message: `The rule cannot be shown: ${RULE_UNSHOWN[code]}.` }
}

/** Earlier decisions of the agent, and of the request's session, within a bounded search of the chain. */
async function pastOf(deps: Deps, { chain, requestedBy, decisionId }: Approval, session: string | null) {
  const { store, clock } = deps
  const dayAgo = formatTimestamp(clock() - DAY_MS)
  const lastDay: Record<Decision, number> = { allow: 0, deny: 0, require_approval: 0 }
  const ofAgent: RecentDecision[] = []
  const ofSession: RecentDecision[] = []
  let isAll = true
  let searched = 0
  let searchedTo: string | null = null
  for await (const portion of decisionsBackwards(store, { trail: chain })) {
    for (const one of portion.decisions) {
      searchedTo = one.timestamp
      if (one.decided?.grounds.caller.agent !== requestedBy) continue
      if (one.timestamp >= dayAgo) lastDay[one.decided.decision.decision] += 1
      if (one.id === decisionId) continue
      if (ofAgent.length < OF_AGENT) ofAgent.push(one)
      if (session !== null && one.decided.grounds.session === session && ofSession.length < OF_SESSION)
        ofSession.push(one)
    }
    isAll = portion.isLast
    searched += portion.entries
    const isFull = ofAgent.length === OF_AGENT && (session === null || ofSession.length === OF_SESSION)
    if (searched >= MAX_SEARCHED || (isFull && searchedTo !== null && searchedTo < dayAgo)) break
  }
  const isWhole = isAll || (searchedTo !== null && searchedTo < dayAgo)
  return {
    agent: { recent: await told(deps, chain, ofAgent), lastDay: { ...lastDay, complete: isWhole } },
    session: { id: session, recent: await told(deps, chain, ofSession) },
    searchedTo: isAll ? null : searchedTo,
  }
}

async function told(deps: Deps, chain: string, decisions: readonly RecentDecision[]) {
  const lines = decisions.map(async ({ id, timestamp, decided }) => {
    if (decided === undefined) return []
    const { decision, risk } = decided
    const outcome = (await outcomeOf(deps, chain, id))?.status ?? null
    return [{ id, timestamp, action: decision.action, decision: decision.decision, riskScore: risk.score, outcome }]
  })
  return (await Promise.all(lines)).flat()
}
