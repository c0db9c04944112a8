import { Type } from '#typebox'
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
import { APPROVAL_STATUSES } from '../../approvals/approval.ts'
import { EXAMPLE, oneOf } from '../common-shapes.ts'
import { Closed, Paging, pageOf, WaitQuery, waitMsOf } from '../query.ts'
import { route } from '../route.ts'
import { ApprovalBackground, approvalBackgroundExample } from './background-shapes.ts'
import { Approval, approveExample, getApprovalExample, listApprovalsExample, rejectExample } from './shapes.ts'

const Status = oneOf(APPROVAL_STATUSES, 'Pending ones without it.')
const ListQuery = Type.Object({ ...Paging, status: Type.Optional(Status) }, Closed)
const params = { id: { description: 'Id of the approval.', example: EXAMPLE.approval } }
const VOTE_ERRORS = ['not_found', 'forbidden', 'approver_mismatch', 'approval_not_pending', 'approval_expired'] as const

export const approvalRoutes = {
  listApprovals: route({
    query: ListQuery,
    data: Type.Array(Approval),
    paged: true,
    example: listApprovalsExample,
    handle: async (services, { caller, query }) => {
      const paging = pageOf(query, { limit: 1000, max: 1000 })
      const { items, page } = await listApprovals(services, caller, { status: query.status ?? 'pending', ...paging })
      return { data: items, page }
    },
  }),
  getApproval: route({
    params,
    query: WaitQuery,
    data: Approval,
    errors: ['not_found'],
    example: getApprovalExample,
    handle: async (services, { caller, params, query, isGone }) => {
      const waitMs = waitMsOf(query)
      const id = params.id ?? ''
      const waited =
        waitMs === 0 ? getApproval(services, caller, id) : waitForApproval(services, caller, id, waitMs, isGone)
      return { data: await waited }
    },
  }),
  approvalBackground: route({
    params,
    data: ApprovalBackground,
    errors: ['not_found'],
    example: approvalBackgroundExample,
    handle: async (services, { caller, params }) => ({
      data: await approvalBackground(services, caller, params.id ?? ''),
    }),
  }),
  approve: route({
    params,
    body: ApproveRequest,
    data: Approval,
    errors: [...VOTE_ERRORS, 'self_approval', 'kill_switch_active'],
    example: approveExample,
    handle: async (services, { caller, params, body, idempotency }) => ({
      data: await approve(services, caller, params.id ?? '', body, idempotency),
    }),
  }),
  reject: route({
    params,
    body: RejectRequest,
    data: Approval,
    errors: VOTE_ERRORS,
    example: rejectExample,
    handle: async (services, { caller, params, body, idempotency }) => ({
      data: await reject(services, caller, params.id ?? '', body, idempotency),
    }),
  }),
}
