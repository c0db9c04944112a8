import { type Approval, type ApprovalStatus, isOpenStatus, subjectOf } from '../../approvals/approval.ts'
import type { ApprovalView } from '../../approvals/view.ts'
import { coveringStop, type KillSwitch, reasonOf } from '../../killswitch/killswitch.ts'
import { type Line, type Painted, paint, prettyJson, table, undisguisedLines } from '../output.ts'
import { byKeysOf, durationText } from './terms.ts'

const COLOUR: Record<ApprovalStatus, Painted['style']> = {
  pending: 'yellow',
  approved: 'green',
  rejected: 'red',
  expired: 'dim',
  cancelled: 'dim',
  consumed: 'cyan',
}

/** The number of people whose votes count towards the quorum. */
export function votesGiven({ votes }: ApprovalView): number {
  return votes.filter(({ counts }) => counts).length
}

export function approvalTable(approvals: readonly ApprovalView[], nowMs: number): Line[] {
  return table(
    ['ID', 'ACTION', 'STATUS', 'RISK', 'REQUESTED BY', 'VOTES', 'TIME LEFT'],
    approvals.map((view) => [
      view.id,
      view.action,
      paint(COLOUR[view.status], view.status),
      String(view.riskScore),
      view.requestedBy,
      `${votesGiven(view)}/${view.quorum}`,
      timeLeft(view, nowMs) ?? '-',
    ]),
  )
}

/** The facts that a person needs to decide. Agents' texts follow a label, each on its own line. */
export function approvalLines(
  view: ApprovalView,
  approval: Approval,
  stops: Iterable<KillSwitch>,
  nowMs: number,
): Line[] {
  const left = timeLeft(view, nowMs)
  const stop = left === undefined ? undefined : coveringStop(stops, subjectOf(approval))
  return undisguisedLines([
    [`${view.id}  `, paint(COLOUR[view.status], view.status)],
    ...(stop === undefined ? [] : [[paint('red', `stopped       ${reasonOf(stop)}`)]]),
    `action        ${view.action}`,
    `requested by  ${view.requestedBy} at ${view.createdAt}`,
    `reason        ${view.reason}`,
    `rule          ${view.rule ?? '-'}`,
    `risk          ${view.riskScore}`,
    ...view.factors.map(({ name, contribution, weight }) => `              ${name}: ${contribution} of ${weight}`),
    `votes         ${votesGiven(view)} of ${view.quorum}${byKeysOf(approval)}`,
    ...view.votes.map((vote, i) => `              ${voteText(view, vote, i)}`),
    `deadline      ${view.expiresAt}${left === undefined ? '' : ` (${left} left)`}`,
    `decision      ${view.decisionId}`,
    `digest        ${view.digest}`,
    `bound         requester, action, context and plan: any other value makes it another request`,
    ...view.unbound.map((path): Line => ['not bound     ', paint('yellow', `${path}: may differ when it is used`)]),
    '',
    'context:',
    ...prettyJson(view.context),
    'plan:',
    ...prettyJson(view.plan),
  ])
}

function voteText({ status, votes }: ApprovalView, vote: ApprovalView['votes'][number], i: number): string {
  const isRejection = status === 'rejected' && i === votes.length - 1
  const claim = vote.approverId === vote.principal ? '' : `, as ${vote.approverId}`
  const standing = isRejection || vote.counts ? '' : ', which no longer counts'
  return `${vote.principal}${claim} ${isRejection ? 'rejected' : 'approved'} at ${vote.votedAt}${standing}${vote.comment === null ? '' : `: ${vote.comment}`}`
}

function timeLeft({ status, expiresAt }: ApprovalView, nowMs: number): string | undefined {
  return isOpenStatus(status) ? durationText(Date.parse(expiresAt) - nowMs) : undefined
}
