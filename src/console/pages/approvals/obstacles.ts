import type { Approval, ApprovalBackground, SignedIn } from '../../../client/api.ts'
import type { VoteKind } from './vote.ts'

interface Voting {
  approval: Approval
  /** Undefined while it is loading: no obstacle is known then. */
  background: ApprovalBackground | undefined
  who: SignedIn
}

/** The reason why this person cannot vote now, addressed to them; undefined if none. The service has the last word. */
export function obstacleTo(kind: VoteKind, { approval, background, who }: Voting): string | undefined {
  if (background === undefined) return undefined
  const permission = kind === 'approve' ? background.mayVote : background.mayReject
  if (permission.allowed) return undefined
  const missing = missingGroups(background, who)
  if (kind === 'approve') {
    if (approval.stop !== null) return 'A stop covers this action: it cannot be approved until the stop ends.'
    if (approval.requestedBy === who.principal && !background.approvers.selfApproval)
      return 'You requested this yourself: someone else must approve it.'
  }
  if (missing !== '') return `To vote, you need the group ${missing}.`
  if (kind === 'approve' && hasVoted(approval, who)) return 'You have already voted.'
  return permission.reason ?? 'You may not decide this approval.'
}

/** True when this person has a vote that counts. */
export function hasVoted({ votes }: Approval, { principal }: SignedIn): boolean {
  return votes.some((vote) => vote.counts && vote.principal === principal)
}

function missingGroups({ approvers }: ApprovalBackground, who: SignedIn): string {
  const missing = approvers.groups.filter((group) => !group.some((name) => who.groups.includes(name)))
  return missing.map((group) => group.join(' or ')).join(', and ')
}
