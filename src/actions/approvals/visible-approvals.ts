import type { Approval } from '../../approvals/approval.ts'
import { type ApprovalView, approvalView } from '../../approvals/view.ts'
import { GateError } from '../../base/errors.ts'
import { type ApiKey, principalOf } from '../../keys/apikey.ts'
import { seesAllApprovals } from '../../keys/roles.ts'
import type { Deps } from '../deps.ts'
import { followsFromChain } from './follows-from-chain.ts'

/** A reader of a chain's approvals: a key, or the host (null), which can read the file and so sees all. */
export interface Reader {
  chain: string
  key: ApiKey | null
}

/** The principal whose approvals alone the reader sees; undefined when it sees all. */
export function requesterSeenBy({ key }: Reader): string | undefined {
  return key === null || seesAllApprovals(key.roles) ? undefined : principalOf(key)
}

export function isApprover(reader: Reader): boolean {
  return requesterSeenBy(reader) === undefined
}

/**
 * One approval, verified against its chain: people decide by it, and the file may have been edited.
 *
 * @throws GateError `not_found`, also for an approval that the reader may not see; `audit_unavailable` for one that is
 *   not what its entries make of it
 */
export async function visibleApproval(deps: Deps, reader: Reader, id: string): Promise<Approval> {
  const approval = await storedApproval(deps, reader, id)
  if (await followsFromChain(deps.store, approval)) return approval
  const again = await storedApproval(deps, reader, id)
  // Another commit may have come between reading the record and its entries.
  if (again.revision !== approval.revision) return visibleApproval(deps, reader, id)
  throw new GateError(
    'audit_unavailable',
    `The stored approval ${id} does not match the audit chain; verify the chain.`,
  )
}

async function storedApproval(deps: Deps, reader: Reader, id: string): Promise<Approval> {
  const approval = await deps.store.approval(id)
  const requester = requesterSeenBy(reader)
  const isThere = approval !== undefined && approval.chain === reader.chain
  if (!isThere || (requester !== undefined && approval.requestedBy !== requester))
    throw new GateError('not_found', 'There is no such approval.')
  return approval
}

export function viewFor(deps: Deps, reader: Reader, approval: Approval): ApprovalView {
  return approvalView(approval, deps.store.state(), deps.clock(), isApprover(reader))
}
