import { GateError } from '../base/errors.ts'
import { type ApiKey, isActive, lineOf, principalOf } from '../keys/apikey.ts'
import type { ApprovalTerms } from '../policies/set.ts'
import type { Approval, Vote } from './approval.ts'

/** The rules for votes: those of the hold, or of the policy now in force. */
export type VotingTerms = Pick<ApprovalTerms, 'quorum' | 'selfApproval' | 'approvers'>
export type Keys = ReadonlyMap<string, ApiKey>
type Asked = Pick<Approval, 'requestedBy' | 'requestedByKey'>

/**
 * Refuses a vote that could not count.
 *
 * @throws GateError `approver_mismatch` when the key's identity is not the claimed approver, `self_approval` for the
 *   requester or a key it made, `forbidden` for a key outside the policy's groups or made by another voter's key.
 */
export function assertMayVote(approval: Approval, voter: ApiKey, approverId: string, keys: Keys): void {
  if (voter.identity !== null && voter.identity !== approverId) {
    throw new GateError('approver_mismatch', `This key belongs to ${voter.identity}; approverId must be the same.`)
  }
  if (!approval.selfApproval && isRequester(approval, voter, keys)) {
    throw new GateError(
      'self_approval',
      'The requester, or a key made by the requesting key, may not approve the action.',
    )
  }
  if (!inGroups(voter, approval.approvers)) {
    throw new GateError(
      'forbidden',
      `Approvers need a key group: ${approval.approvers.map((group) => group.join(' or ')).join(', and ')}.`,
    )
  }
  if (approval.votes.some((vote) => isMadeBy(voter, vote.keyId, keys))) {
    throw new GateError(
      'forbidden',
      "This key was made by another approver's key, so it does not count as a second person.",
    )
  }
}

/**
 * The votes that count under `terms` at `nowMs`, by principal: by an active key, in the groups, not made by another
 * voter's key. The requester's own counts only where self-approval is allowed.
 */
export function countedVotes(
  approval: Pick<Approval, 'votes'> & Asked,
  terms: VotingTerms,
  keys: Keys,
  nowMs: number,
): Map<string, Vote> {
  const counted = new Map<string, Vote>()
  for (const vote of approval.votes) {
    const voter = keys.get(vote.keyId)
    if (voter === undefined || !isActive(voter, nowMs) || !inGroups(voter, terms.approvers)) continue
    if (!terms.selfApproval && isRequester(approval, voter, keys)) continue
    if (approval.votes.some((other) => other.keyId !== vote.keyId && isMadeBy(voter, other.keyId, keys))) continue
    counted.set(principalOf(voter), vote)
  }
  return counted
}

function isRequester(approval: Asked, voter: ApiKey, keys: Keys): boolean {
  // One key, and one line of keys, has one principal.
  return principalOf(voter) === approval.requestedBy || isMadeBy(voter, approval.requestedByKey, keys)
}

/**
 * Follows the makers of keys over HTTP, so that a key cannot hide behind one that it made, or whose new secret it had
 * made. Compares whole lines: the rotation of either key, or of one between them, changes nothing.
 */
function isMadeBy(key: ApiKey, ancestorId: string, keys: Keys): boolean {
  const known = keys.get(ancestorId)
  const ancestor = known === undefined ? ancestorId : lineOf(known)
  const makers = new Set(makersOf(key))
  // Ids added during the loop are visited too.
  for (const id of makers) {
    const maker = keys.get(id)
    if (maker === undefined) continue
    if (lineOf(maker) === ancestor) return true
    for (const before of makersOf(maker)) makers.add(before)
  }
  return false
}

function makersOf({ createdBy, rotatedBy }: ApiKey): string[] {
  return rotatedBy === undefined ? [createdBy] : [createdBy, rotatedBy]
}

function inGroups(voter: ApiKey, approvers: VotingTerms['approvers']): boolean {
  return approvers.every((group) => group.some((name) => voter.groups.includes(name)))
}
