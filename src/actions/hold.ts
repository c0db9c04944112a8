import { type Approval, type ApprovalStatus, approvalDigest, deadlineMs, statusAt } from '../approvals/approval.ts'
import { countedVoters } from '../approvals/votes.ts'
import { type EntryDraft, SERVICE } from '../audit/entry.ts'
import { formatTimestamp } from '../base/time.ts'
import type { Outcome } from '../gate/decide.ts'
import type { CheckRequest } from '../gate/request.ts'
import { principalOf } from '../keys/apikey.ts'
import { parseFactPath } from '../policy/path.ts'
import type { ApprovalTerms } from '../policy/set.ts'
import { change, creation } from '../records.ts'
import type { Write } from '../store.ts'
import { type Caller, type CheckDeps, eventEntry } from './deps.ts'
import type { Judged } from './judge.ts'
import { votesAreRecorded } from './votes.ts'

/** A request that was judged, under the id its decision will have. */
export interface Asked {
  caller: Caller
  request: CheckRequest
  judged: Judged
  decisionId: string
}

/** A decision with what becomes of the approval that it uses, waits for or asks for. */
export interface HoldResult {
  outcome: Outcome
  approval: Approval | undefined
  writes: readonly Write[]
  /** Entries after the decision's. */
  entries: readonly EntryDraft[]
}

/**
 * Turns a hold into what the approvals for exactly this request make of it: allow with an approved one
 * (which is used up), deny after a rejection, else wait for the pending one or a new one.
 */
export async function resolveHold(deps: CheckDeps, asked: Asked): Promise<HoldResult> {
  const { outcome, nowMs } = asked.judged
  if (outcome.hold === null) return unchanged(outcome)
  const digest = digestOfRequest(asked.caller, asked.request, outcome.hold)
  const same = await deps.store.approvalsFor(asked.caller.chain, digest)
  const { switches } = deps.store.state()
  const byStatus = (status: ApprovalStatus): Approval[] =>
    same.filter((item) => statusAt(item, switches, nowMs) === status)

  const [rejected] = byStatus('rejected').filter((item) => nowMs < deadlineMs(item, switches, nowMs))
  if (rejected !== undefined) return refused(outcome, rejected)
  const faults: string[] = []
  for (const approval of byStatus('approved')) {
    const fault = await useFault(deps, approval, outcome.hold, nowMs)
    if (fault === undefined) return redeemed(deps, asked, approval)
    faults.push(fault)
  }
  const presented = await presentedFault(deps, asked, digest)
  if (presented !== undefined) faults.push(presented)
  const noted = { ...outcome, reason: [outcome.reason, ...faults].join(' ') }
  const [pending] = byStatus('pending')
  if (pending !== undefined) return unchanged(noted, pending)
  const overdue = byStatus('expired').filter(({ status }) => status === 'pending')
  return requested(deps, { ...asked, judged: { ...asked.judged, outcome: noted } }, outcome.hold, digest, overdue)
}

function unchanged(outcome: Outcome, approval?: Approval): HoldResult {
  return { outcome, approval, writes: [], entries: [] }
}

function digestOfRequest(caller: Caller, request: CheckRequest, terms: ApprovalTerms): string {
  const unbound = terms.unbound.map((text) => {
    const path = parseFactPath(text)
    return path === undefined ? [] : [path.root, ...path.segments.filter((segment) => typeof segment === 'string')]
  })
  const { action, context = {}, plan = null } = request
  return approvalDigest({ chain: caller.chain, action, context, plan, requester: principalOf(caller.key) }, unbound)
}

/** Why an approved approval may not be used now: the votes are held to the policy in force, and to the chain. */
async function useFault(
  deps: CheckDeps,
  approval: Approval,
  terms: ApprovalTerms,
  nowMs: number,
): Promise<string | undefined> {
  const voters = countedVoters(approval, terms, deps.store.state().keys, nowMs)
  if (voters.size < terms.quorum) return `Approval ${approval.id} no longer meets the policy in force.`
  if (!(await votesAreRecorded(deps.store, approval)))
    return `The votes of approval ${approval.id} are not those in the audit chain.`
  return undefined
}

/** Why the approval that the caller named does not count; undefined when it does, or none was named. */
async function presentedFault(
  deps: CheckDeps,
  { caller, request, judged }: Asked,
  digest: string,
): Promise<string | undefined> {
  if (request.approvalId === undefined) return undefined
  const approval = await deps.store.approval(request.approvalId)
  if (approval === undefined || approval.chain !== caller.chain) return 'The approval presented is not known.'
  if (approval.requestedBy !== principalOf(caller.key)) return 'The approval presented was given to another requester.'
  if (approval.digest !== digest) return 'The approval presented is for another request.'
  const status = statusAt(approval, deps.store.state().switches, judged.nowMs)
  return status === 'pending' || status === 'approved' ? undefined : `The approval presented is ${status}.`
}

function redeemed(deps: CheckDeps, { caller, judged, decisionId }: Asked, approval: Approval): HoldResult {
  const used = change('approval', approval, { status: 'consumed' })
  const voters = [...new Set(approval.votes.map(({ principal }) => principal))].join(', ')
  const data = { ...used.data, decisionId }
  return {
    outcome: {
      ...judged.outcome,
      decision: 'allow',
      decidedBy: 'approval',
      retry: 'never',
      reason: `Approved by ${voters} (${approval.id}).`,
      hold: null,
    },
    approval: used.record,
    writes: [used.write],
    entries: [eventEntry(deps, caller.chain, 'approval.consumed', data, caller.actor)],
  }
}

function refused(outcome: Outcome, rejected: Approval): HoldResult {
  const voter = rejected.votes.at(-1)
  const why = voter?.comment ? `: ${voter.comment}` : '.'
  const reason = `Rejected by ${voter?.principal ?? 'an approver'} (${rejected.id})${why}`
  return unchanged(
    { ...outcome, decision: 'deny', decidedBy: 'approval', retry: 'never', reason, hold: null },
    rejected,
  )
}

/** A new pending approval; those of the same digest that are past their deadline make room for it. */
function requested(
  deps: CheckDeps,
  asked: Asked,
  terms: ApprovalTerms,
  digest: string,
  overdue: readonly Approval[],
): HoldResult {
  const { caller, judged } = asked
  const expired = overdue.map((approval) => change('approval', approval, { status: 'expired' }))
  const created = creation('approval', newApproval(deps, asked, terms, digest))
  return {
    outcome: judged.outcome,
    approval: created.record,
    writes: [...expired, created].map(({ write }) => write),
    entries: [
      ...expired.map(({ data }) => eventEntry(deps, caller.chain, 'approval.expired', data, SERVICE)),
      eventEntry(deps, caller.chain, 'approval.requested', created.data, caller.actor),
    ],
  }
}

function newApproval(deps: CheckDeps, asked: Asked, terms: ApprovalTerms, digest: string): Approval {
  const { caller, request, judged, decisionId } = asked
  const { outcome, risk, subject, nowMs } = judged
  return {
    id: deps.newId('approval'),
    revision: 1,
    chain: caller.chain,
    action: request.action,
    domain: subject.domain ?? null,
    status: 'pending',
    createdAt: formatTimestamp(nowMs),
    context: request.context ?? {},
    plan: request.plan ?? null,
    decisionId,
    riskScore: risk.score,
    factors: risk.factors,
    reason: outcome.reason,
    rule: outcome.rule,
    requestedBy: principalOf(caller.key),
    requestedByKey: caller.key.id,
    quorum: terms.quorum,
    selfApproval: terms.selfApproval,
    approvers: terms.approvers,
    unbound: terms.unbound,
    votes: [],
    expiresAt: formatTimestamp(nowMs + terms.expiresInMs),
    decidedAt: null,
    digest,
  }
}
