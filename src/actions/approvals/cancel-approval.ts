import { statusAt } from '../../approvals/approval.ts'
import type { ApprovalView } from '../../approvals/view.ts'
import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import { requestBody } from '../../gate/request.ts'
import { change } from '../../store/records.ts'
import { type Caller, type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import { viewFor, visibleApproval } from './visible-approvals.ts'

export const CancelRequest = requestBody('CancelRequest', {})

/**
 * Cancels an approval that is pending, or approved and unused: the same request then needs a new one. Its requester may
 * do it, and those who decide on approvals of the tenant. A rejection stands.
 *
 * @throws GateError `not_found`, `approval_expired`, `approval_not_pending` when it was used, rejected or cancelled
 */
export function cancelApproval(deps: Deps, caller: Caller, id: string): Promise<ApprovalView> {
  return decideAndCommit(deps.store, async () => {
    const approval = await visibleApproval(deps, caller, id)
    const nowMs = deps.clock()
    const status = statusAt(approval, deps.store.state().switches, nowMs)
    if (status === 'expired') throw new GateError('approval_expired', `Approval ${id} has expired.`)
    if (status !== 'pending' && status !== 'approved')
      throw new GateError('approval_not_pending', `Approval ${id} is ${status}; there is nothing to cancel.`)
    const cancelled = change('approval', approval, { status: 'cancelled', decidedAt: formatTimestamp(nowMs) })
    return {
      // The revision guards against a simultaneous use or vote: the second to commit decides anew.
      submission: {
        guards: [{ kind: 'keyActive', keyId: caller.key.id }],
        writes: [cancelled.write],
        entries: [eventEntry(deps, caller.chain, 'approval.cancelled', cancelled.data, caller.actor)],
      },
      reply: () => viewFor(deps, caller, cancelled.record),
    }
  })
}
