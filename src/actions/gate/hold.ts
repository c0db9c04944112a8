import {
  type Approval,
  type ApprovalStatus,
  approvalDigest,
  deadlineMs,
  isOpenStatus,
  statusAt,
  subjectOf,
  unboundPath,
} from '../../approvals/approval.ts'
import { countedVotes } from '../../approvals/votes.ts'
import { type EntryDraft, SERVICE } from '../../audit/draft.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { Ruling } from '../../gate/decide.ts'
import type { CheckRequest } from '../../gate/request.ts'
import { principalOf } from '../../keys/apikey.ts'
import type { ApprovalTerms } from '../../policies/set.ts'
import { lengthOf } from '../../store/bounds.ts'
import { change, creation } from '../../store/records.ts'
import type { Guard, Write } from '../../store/submission.ts'
import { followsFromChain } from '../approvals/follows-from-chain.ts'
import { expiryGuard } from '../approvals/open-approvals.ts'
import { type Caller, type CheckDeps, eventEntry } from '../deps.ts'
import type { Judged } from './judge.ts'
import { overPendingLimit, pendingGuard } from './pending-limit.ts'

type CountedVotes = ReturnType<typeof countedVotes>

export interface Asked {
  caller: Caller
  request: CheckRequest
  judged: Judged
  decisionId: string
}

/** A ruling with the approval that it uses, waits for or requests, if any, and what that changes. */
export interface Resolution {
  outcome: Ruling
  approval: Approval | undefined
  guards: readonly Guard[]
  writes: readonly Write[]
  /** Entries after the decision's. */
  entries: readonly EntryDraft[]
}

/**
 * Resolves a hold by the approvals of exactly this request: allow with an approved one, which is used up; deny after a
 * rejection; else wait for a pending or new one.
 */
export async function resolveHold(deps: CheckDeps, asked: Asked, terms: ApprovalTerms): Promise<Resolution> {
  const { outcome } = asked.judged
  const digest = digestOfRequest(asked.caller, asked.request, terms.unbound)
  const same = await deps.store.approvalsFor(asked.caller.chain, digest)
  const nowMs = deps.clock()
  const { switches } = deps.store.state()
  const byStatus = (status: ApprovalStatus): Approval[] =>
    same.filter((item) => statusAt(item, switches, nowMs) === status)

  const [rejected] = byStatus('rejected').filter((item) => nowMs < deadlineMs(item, switches, nowMs))
  if (rejected !== undefined) return refused(outcome, rejected)
  const faults: string[] = []
  for (const approval of byStatus('approved')) {
    const votes = countedVotes(approval, terms, deps.store.state().keys, nowMs)
    const fault = await useFault(deps, approval, votes, terms)
    if (fault === undefined) return redeemed(deps, asked, approval, votes, terms)
    // Another commit between the two reads is not a fault.
    if (await hasChanged(deps, approval)) return resolveHold(deps, asked, terms)
    faults.push(fault)
  }
  const presented = await presentedFault(deps, asked, digest)
  if (presented !== undefined) faults.push(presented)
  const noted = { ...outcome, reason: [outcome.reason, ...faults].join(' ') }
  const [pending] = byStatus('pending')
  if (pending !== undefined) return ruled(noted, pending)
  const denied = await overPendingLimit(deps, asked.caller, noted)
  if (denied !== undefined) {
    // The same request may have got the last place meanwhile.
    const { length } = await deps.store.approvalsFor(asked.caller.chain, digest)
    return length === same.length ? ruled(denied) : resolveHold(deps, asked, terms)
  }
  const overdue = byStatus('expired').filter(({ status }) => status === 'pending')
  const { chain } = asked.caller
  const end = await lengthOf(deps.store, chain)
  const held = { ...asked, judged: { ...asked.judged, outcome: noted } }
  return requested(deps, held, { terms, digest, end }, overdue)
}

async function hasChanged({ store }: CheckDeps, { id, revision }: Approval): Promise<boolean> {
  return (await store.approval(id))?.revision !== revision
}

/** A ruling that changes no approval. */
export function ruled(outcome: Ruling, approval?: Approval): Resolution {
  return { outcome, approval, guards: NONE, writes: NONE, entries: NONE }
}

const NONE: readonly never[] = []

/** The digest of the approval that the caller's request needs. */
export function digestOfRequest(caller: Caller, request: CheckRequest, unbound: readonly string[]): string {
  const { action, context = {}, plan = null } = request
  const bound = { chain: caller.chain, action, context, plan, requester: principalOf(caller.key) }
  return approvalDigest(bound, unbound.map(segmentsOf))
}

/** @throws TypeError for a path that loading refuses: any other reading of it would unbind the wrong member */
function segmentsOf(text: string): string[] {
  const path = unboundPath(text)
  if (path === undefined) throw new TypeError(`${text} does not name one member`)
  return path
}

/**
 * The reason why an approved approval may not be used now: its votes must satisfy the policy in force, and its record
 * the chain.
 */
async function useFault(
  deps: CheckDeps,
  approval: Approval,
  votes: CountedVotes,
  terms: ApprovalTerms,
): Promise<string | undefined> {
  if (votes.size < terms.quorum) return `Approval ${approval.id} no longer meets the policy in force.`
  if (!(await followsFromChain(deps.store, approval)))
    return `Approval ${approval.id} is not what the audit chain records.`
  return undefined
}

/** The reason why the approval that the caller named does not count; undefined when it does, or none was named. */
async function presentedFault(
  deps: CheckDeps,
  { caller, request, judged }: Asked,
  digest: string,
): Promise<string | undefined> {
  if (request.approvalId === undefined) return undefined
  const approval = await deps.store.approval(request.approvalId)
  if (approval === undefined || approval.chain !== caller.chain) return 'The presented approval is unknown.'
  if (approval.requestedBy !== principalOf(caller.key)) return 'The presented approval was given to another requester.'
  if (approval.digest !== digest) return 'The presented approval is for another request.'
  const status = statusAt(approval, deps.store.state().switches, judged.nowMs)
  return isOpenStatus(status) ? undefined : `The presented approval is ${status}.`
}

/** Uses the approval up with this decision; at the commit it must be unexpired, and every vote's key active. */
function redeemed(
  deps: CheckDeps,
  { caller, judged, decisionId }: Asked,
  approval: Approval,
  votes: CountedVotes,
  { quorum, selfApproval, approvers }: ApprovalTerms,
): Resolution {
  const used = change('approval', approval, { status: 'consumed' })
  const voters = [...votes.keys()].join(', ')
  // By these terms the votes were counted, and can be counted again.
  const data = { ...used.data, decisionId, terms: { quorum, selfApproval, approvers } }
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
    guards: [
      expiryGuard(approval, false),
      { kind: 'noStopSince', subject: subjectOf(approval), end: approval.decidedEnd ?? 0 },
      ...Array.from(votes.values(), ({ keyId }) => ({ kind: 'voterActive' as const, keyId })),
    ],
    writes: [used.write],
    entries: [eventEntry(deps, caller.chain, 'approval.consumed', data, caller.actor)],
  }
}

function refused(outcome: Ruling, rejected: Approval): Resolution {
  const voter = rejected.votes.at(-1)
  const why = voter?.comment ? `: ${voter.comment}` : '.'
  const reason = `Rejected by ${voter?.principal ?? 'an approver'} (${rejected.id})${why}`
  return ruled({ ...outcome, decision: 'deny', decidedBy: 'approval', retry: 'never', reason, hold: null }, rejected)
}

/** Contents of a new approval that do not come from the check. */
interface Wanted {
  terms: ApprovalTerms
  digest: string
  /** Length of the chain. */
  end: number
}

/** Requests a new approval; those of the same digest past their deadline are recorded as expired. */
function requested(deps: CheckDeps, asked: Asked, wanted: Wanted, overdue: readonly Approval[]): Resolution {
  const { caller, judged } = asked
  const expired = overdue.map((approval) => change('approval', approval, { status: 'expired' }))
  const created = creation('approval', newApproval(deps, asked, wanted))
  return {
    outcome: judged.outcome,
    approval: created.record,
    guards: [
      // A stop that came since was not judged.
      { kind: 'notStopped', subject: judged.subject },
      pendingGuard(deps, caller),
      ...overdue.map((approval) => expiryGuard(approval, true)),
    ],
    writes: [...expired, created].map(({ write }) => write),
    entries: [
      ...expired.map(({ data }) => eventEntry(deps, caller.chain, 'approval.expired', data, SERVICE)),
      eventEntry(deps, caller.chain, 'approval.requested', created.data, caller.actor),
    ],
  }
}

function newApproval(deps: CheckDeps, asked: Asked, { terms, digest, end }: Wanted): Approval {
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
    requestedEnd: end,
    context: request.context ?? {},
    plan: request.plan ?? null,
    decisionId,
    riskScore: risk.score,
    factors: risk.factors,
    reason: outcome.reason,
    rule: outcome.rule,
    explain: judged.set?.explain ?? 'full',
    requestedBy: principalOf(caller.key),
    requestedByKey: caller.key.id,
    quorum: terms.quorum,
    selfApproval: terms.selfApproval,
    approvers: terms.approvers,
    unbound: terms.unbound,
    votes: [],
    expiresAt: formatTimestamp(nowMs + terms.expiresInMs),
    decidedAt: null,
    decidedEnd: null,
    digest,
  }
}
