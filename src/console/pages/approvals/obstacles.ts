import type { Approval, ApprovalBackground, SignedIn } from '../../../client/api.ts'
import type { VoteKind } from './vote.ts'

interface Voting {
  approval: Approval
  /** Undefined while it is not known: then nothing stands in the way as far as one can see. */
  background: ApprovalBackground | undefined
  who: SignedIn
}

/** Why this person cannot vote so now, said to them; undefined where they can. Whether they can is the service's to say. */
export function obstacleTo(kind: VoteKind, { approval, background, who }: Voting): string | undefined {
  if (background === undefined) return undefined
  const permission = kind === 'approve' ? background.mayVote : background.mayReject
  if (permission.allowed) return undefined
  const lacks = lackedGroups(background, who)
  if (kind === 'approve') {
    if (approval.stop !== null) return 'A stop covers this action: nothing can be approved until it ends.'
    if (approval.requestedBy === who.principal && !background.approvers.selfApproval)
      return 'You asked for this yourself: somebody else must approve it.'
  }
  if (lacks !== '') return `To vote you need the group ${lacks}.`
  if (kind === 'approve' && hasVoted(approval, who)) return 'You have voted already.'
  return permission.reason ?? 'You may not decide this one.'
}

/** True when a vote of this person counts. */
export function hasVoted({ votes }: Approval, { principal }: SignedIn): boolean {
  return votes.some((vote) => vote.counts && vote.principal === principal)
}

function lackedGroups({ approvers }: ApprovalBackground, who: SignedIn): string {
  const lacked = approvers.groups.filter((group) => !group.some((name) => who.groups.includes(name)))
  return lacked.map((group) => group.join(' or ')).join(', and ')
}
