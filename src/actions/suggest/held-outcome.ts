import { type Approval, statusAt } from '../../approvals/approval.ts'
import type { Recorded } from '../../replay/recorded.ts'
import type { Store } from '../../store/store.ts'
import type { HeldOutcome } from '../../suggest/held.ts'

/** The outcome of the approval that a request asked for; undefined if it asked for none. */
export async function heldOutcome(
  store: Store,
  { id, outcome, approvalId }: Recorded,
  nowMs: number,
): Promise<HeldOutcome | undefined> {
  if (approvalId === null || outcome?.decision !== 'require_approval') return undefined
  const approval = await store.approval(approvalId)
  if (approval === undefined) return { result: 'undecided', approvers: [] }
  // The same request again, while people look.
  if (approval.decisionId !== id) return undefined
  const { requestedBy, votes } = approval
  const approvers = [...new Set(votes.map(({ principal }) => principal))].filter((one) => one !== requestedBy)
  const result = resultOf(approval, store, nowMs)
  return { result: result === 'approved' && approvers.length === 0 ? 'undecided' : result, approvers }
}

function resultOf(approval: Approval, store: Store, nowMs: number): HeldOutcome['result'] {
  const status = statusAt(approval, store.state().switches, nowMs)
  if (status === 'pending') return 'undecided'
  // People had approved it; the agent did not come back in time.
  if (status === 'consumed' || (status === 'expired' && approval.decidedEnd !== null)) return 'approved'
  return status
}
