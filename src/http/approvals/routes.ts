import * as Type from '#typebox'
import {
  ApproveRequest,
  approve,
  getApproval,
  listApprovals,
  RejectRequest,
  reject,
  waitForApproval,
} from '../../actions/approvals/approvals.ts'
import { approvalBackground } from '../../actions/approvals/background.ts'
import { CancelRequest, cancelApproval } from '../../actions/approvals/cancel-approval.ts'
import { APPROVAL_STATUSES } from '../../approvals/approval.ts'
import { EXAMPLE, oneOf } from '../common-shapes.ts'
import { Paging, pageOf, queryShape, WaitQuery, waitMsOf } from '../query.ts'
import { route } from '../route.ts'
import { ApprovalBackground, approvalBackgroundExample } from './background-shapes.ts'
import * as shapes from './shapes.ts'

const Status = oneOf(APPROVAL_STATUSES, 'Pending ones without it.')
const ListQuery = queryShape({ ...Paging, status: Type.Optional(Status) })
const id = { description: 'Id of the approval.', example: EXAMPLE.approval }
const VOTE_ERRORS = ['not_found', 'forbidden', 'approver_mismatch', 'approval_not_pending', 'approval_expired'] as const

export const approvalRoutes = {
  listApprovals: route({
    query: ListQuery,
    data: Type.Array(shapes.Approval),
    paged: true,
    example: shapes.listApprovalsExample,
    reply: async (services, { caller, query }) => {
      const paging = pageOf(query, { limit: 1000, max: 1000 })
      const { items, page } = await listApprovals(services, caller, { status: query.status ?? 'pending', ...paging })
      return { data: items, page }
    },
  }),
  getApproval: route({
    id,
    query: WaitQuery,
    data: shapes.Approval,
    errors: ['not_found'],
    example: shapes.getApprovalExample,
    answer(services, call) {
      const { caller, id, query } = call
      const waitMs = waitMsOf(query)
      return waitMs === 0
        ? getApproval(services, caller, id)
        : waitForApproval(services, caller, id, waitMs, () => call.isGone())
    },
  }),
  approvalBackground: route({
    id,
    data: ApprovalBackground,
    errors: ['not_found'],
    example: approvalBackgroundExample,
    answer: (services, { caller, id }) => approvalBackground(services, caller, id),
  }),
  approve: route({
    id,
    body: ApproveRequest,
    data: shapes.Approval,
    errors: [...VOTE_ERRORS, 'self_approval', 'kill_switch_active'],
    example: shapes.approveExample,
    answer: (services, { caller, id, body, idempotency }) => approve(services, caller, id, body, idempotency),
  }),
  reject: route({
    id,
    body: RejectRequest,
    data: shapes.Approval,
    errors: VOTE_ERRORS,
    example: shapes.rejectExample,
    answer: (services, { caller, id, body, idempotency }) => reject(services, caller, id, body, idempotency),
  }),
  cancelApproval: route({
    id,
    body: CancelRequest,
    data: shapes.Approval,
    errors: ['not_found', 'approval_not_pending', 'approval_expired'],
    example: shapes.cancelExample,
    answer: (services, { caller, id }) => cancelApproval(services, caller, id),
  }),
}
