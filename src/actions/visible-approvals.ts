import { type Approval, type ApprovalView, approvalView } from '../approvals/approval.ts'
import { GateError } from '../base/errors.ts'
import { type ApiKey, principalOf } from '../keys/apikey.ts'
import { seesAllApprovals } from '../keys/roles.ts'
import type { Deps } from './deps.ts'

/** Who reads approvals of a chain: a key, or the host itself (null), which can read the file and so sees all. */
export interface Reader {
  chain: string
  key: ApiKey | null
}

/** The one whose approvals alone are seen; undefined when all are. */
export function requesterSeenBy({ key }: Reader): string | undefined {
  return key === null || seesAllApprovals(key.roles) ? undefined : principalOf(key)
}

export function isApprover(reader: Reader): boolean {
  return requesterSeenBy(reader) === undefined
}

/** @throws GateError `not_found`, also for an approval that the reader may not see */
export async function visibleApproval(deps: Deps, reader: Reader, id: string): Promise<Approval> {
  const approval = await deps.store.approval(id)
  const requester = requesterSeenBy(reader)
  const isThere = approval !== undefined && approval.chain === reader.chain
  if (!isThere || (requester !== undefined && approval.requestedBy !== requester))
    throw new GateError('not_found', 'There is no such approval.')
  return approval
}

export function viewFor(deps: Deps, reader: Reader, approval: Approval): ApprovalView {
  return approvalView(approval, deps.store.state().switches, deps.clock(), isApprover(reader))
}
