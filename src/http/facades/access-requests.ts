import type { ApprovalStatus } from '../../approvals/approval.ts'
import type { ApprovalView } from '../../approvals/view.ts'
import { FACADE_ROUTES } from '../../keys/facade-routes.ts'
import type { AccessTask } from './access-request-shapes.ts'

/** A used approval stays approved, since a finished task cannot change; the next evaluation reports the use. */
const STATUSES: Readonly<Record<ApprovalStatus, AccessTask['task']['status']>> = {
  pending: 'pending',
  approved: 'approved',
  consumed: 'approved',
  rejected: 'denied',
  expired: 'expired',
  cancelled: 'cancelled',
}

/** Approval as a task. It does not tell who may decide or has decided. */
export function taskOf({ id, status, decidedAt, expiresAt }: ApprovalView, origin: string): AccessTask {
  const task = {
    id,
    status: STATUSES[status],
    status_endpoint: origin + FACADE_ROUTES.accessRequest.path.replace(':id', id),
  }
  if (task.status !== 'approved' || decidedAt === null) return { task }
  const approval = { id, approved_at: decidedAt, approved_until: expiresAt }
  return { task, result: { mode: 'reevaluate', approval } }
}
