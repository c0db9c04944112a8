import { type Approval, statusAt, subjectOf } from '../../approvals/approval.ts'
import { assertMayVote, countedVotes } from '../../approvals/votes.ts'
import { GateError } from '../../base/errors.ts'
import { type ApiKey, principalOf } from '../../keys/apikey.ts'
import { coveringStop, reasonOf } from '../../killswitch/killswitch.ts'
import type { Store } from '../../store/store.ts'

export interface Voting {
  approval: Approval
  key: ApiKey
  /** The approver as claimed in the request. */
  approverId: string
  nowMs: number
}

/**
 * Refuses a vote for the approval that cannot count now.
 *
 * @throws GateError `approval_expired`, `approval_not_pending`, `kill_switch_active`, and what `assertMayVote` throws
 */
export function assertMayApprove(store: Store, { approval, key, approverId, nowMs }: Voting): void {
  const { keys, switches } = store.state()
  assertPending(store, approval, nowMs)
  const stop = coveringStop(switches, subjectOf(approval))
  if (stop !== undefined) throw new GateError('kill_switch_active', reasonOf(stop))
  assertMayVote(approval, key, approverId, keys)
}

/** Refuses a vote against the approval; unlike an approving vote, it may come from the requester, and during a stop. */
export function assertMayReject(store: Store, { approval, key, approverId, nowMs }: Voting): void {
  assertPending(store, approval, nowMs)
  assertMayVote({ ...approval, selfApproval: true }, key, approverId, store.state().keys)
}

/**
 * True when the key holder's vote counts already. A vote that no longer counts, since its key was revoked, can be
 * repeated.
 */
export function hasVoted(store: Store, { approval, key, nowMs }: Omit<Voting, 'approverId'>): boolean {
  return countedVotes(approval, approval, store.state().keys, nowMs).has(principalOf(key))
}

function assertPending(store: Store, approval: Approval, nowMs: number): void {
  const status = statusAt(approval, store.state().switches, nowMs)
  if (status === 'pending') return
  if (status === 'expired') throw new GateError('approval_expired', `Approval ${approval.id} has expired.`)
  throw new GateError('approval_not_pending', `Approval ${approval.id} is ${status}, no longer pending.`)
}

/** Permission of a key to act on an approval; without it, the reason, as a sentence. */
export interface Permission {
  allowed: boolean
  reason: string | null
}

/** The results that a vote for and a vote against the approval would have now, by the checks of voting. */
export function votesOf(
  store: Store,
  asked: Omit<Voting, 'approverId'>,
): { mayVote: Permission; mayReject: Permission } {
  const voting = { ...asked, approverId: principalOf(asked.key) }
  const approving = permission(() => assertMayApprove(store, voting))
  const isRepeated = approving.allowed && hasVoted(store, asked)
  return {
    mayVote: isRepeated ? { allowed: false, reason: 'You have already voted for it.' } : approving,
    mayReject: permission(() => assertMayReject(store, voting)),
  }
}

function permission(assertAllowed: () => void): Permission {
  try {
    assertAllowed()
    return { allowed: true, reason: null }
  } catch (error) {
    if (error instanceof GateError) return { allowed: false, reason: error.message }
    throw error
  }
}
