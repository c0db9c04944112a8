import { formatTimestamp } from '../base/time.ts'
import { coveringStop, type PlacedStop, stopView } from '../killswitch/killswitch.ts'
import {
  type Approval,
  type ApprovalStatus,
  deadlineMs,
  isOpenStatus,
  statusAt,
  stopThatCancelled,
  subjectOf,
} from './approval.ts'
import { countedVotes, type Keys } from './votes.ts'

/** Other state that an approval's view depends on. */
interface Surroundings {
  switches: readonly PlacedStop[]
  keys: Keys
}

/**
 * The approval as callers see it. The binding is shown, so that an approver knows what is covered and what is not.
 *
 * @param isApprover false hides rule and factors where the policy gives the agent the reason only
 */
export function approvalView(approval: Approval, { switches, keys }: Surroundings, nowMs: number, isApprover: boolean) {
  const open = isApprover || approval.explain === 'full'
  const status = statusAt(approval, switches, nowMs)
  const stop =
    status === 'pending' ? coveringStop(switches, subjectOf(approval)) : stopThatCancelled(approval, switches, nowMs)
  return {
    id: approval.id,
    action: approval.action,
    status,
    createdAt: approval.createdAt,
    context: approval.context,
    plan: approval.plan,
    decisionId: approval.decisionId,
    riskScore: approval.riskScore,
    factors: open ? approval.factors : [],
    reason: approval.reason,
    rule: open ? approval.rule : null,
    requestedBy: approval.requestedBy,
    quorum: approval.quorum,
    votes: votesIn(approval, status, keys, nowMs),
    expiresAt: formatTimestamp(deadlineMs(approval, switches, nowMs)),
    decidedAt: approval.decidedAt,
    digest: approval.digest,
    unbound: approval.unbound,
    stop: stop === undefined ? null : stopView(stop),
  }
}

export type ApprovalView = ReturnType<typeof approvalView>

/**
 * The votes, and which of them count towards the quorum. While open, by the current keys; once settled, one per
 * principal, whatever became of the keys. A rejection is the last vote, and none counts for it.
 */
function votesIn(approval: Approval, status: ApprovalStatus, keys: Keys, nowMs: number) {
  const { votes } = approval
  const votesFor = status === 'rejected' ? votes.slice(0, -1) : votes
  const byPrincipal = isOpenStatus(status)
    ? countedVotes(approval, approval, keys, nowMs)
    : new Map(votesFor.map((vote) => [vote.principal, vote]))
  const counted = new Set(byPrincipal.values())
  return votes.map((vote) => {
    const { principal, approverId, comment, votedAt } = vote
    return { principal, approverId, comment, votedAt, counts: counted.has(vote) }
  })
}
