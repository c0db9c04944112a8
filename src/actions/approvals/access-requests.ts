import { statusAt } from '../../approvals/approval.ts'
import type { ApprovalView } from '../../approvals/view.ts'
import { GateError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { CheckRequest } from '../../gate/request.ts'
import { ownDecision } from '../decisions/decisions.ts'
import type { Caller, Deps } from '../deps.ts'
import { digestOfRequest } from '../gate/hold.ts'
import { viewFor, visibleApproval } from './visible-approvals.ts'

/**
 * The approval that a decision requested, for a requester who repeats the request. It exists since the decision, so
 * nothing is written.
 *
 * @param request the held request; members of its context beyond the recorded ones are ignored
 * @throws GateError `invalid_denial_binding`, `not_requestable`, `expired_denial`
 */
export async function heldApproval(
  deps: Deps,
  caller: Caller,
  decisionId: string,
  request: CheckRequest,
): Promise<ApprovalView> {
  const decided = await ownDecision(deps, caller, decisionId)
  if (decided === undefined)
    throw new GateError('invalid_denial_binding', 'evaluation_id does not name an evaluation of this caller.')
  const { approvalId } = decided.grounds
  if (decided.decision.decision !== 'require_approval' || approvalId === null)
    throw new GateError('not_requestable', 'The evaluation did not ask for an approval.')
  const approval = await visibleApproval(deps, caller, approvalId)
  const context = restrictedTo(approval.context, request.context ?? {})
  if (digestOfRequest(caller, { ...request, context }, approval.unbound) !== approval.digest)
    throw new GateError(
      'invalid_denial_binding',
      'Subject, action, resource or context are not those of the evaluation.',
    )
  if (statusAt(approval, deps.store.state().switches, deps.clock()) === 'expired')
    throw new GateError('expired_denial', 'The approval has expired; evaluate again.')
  return viewFor(deps, caller, approval)
}

/** The members of `value` that the pattern has too. */
function restrictedTo(pattern: JsonObject, value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(pattern, name)))
}
