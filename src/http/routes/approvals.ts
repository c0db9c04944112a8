import { Type } from 'typebox'
import {
  ApproveRequest,
  approve,
  getApproval,
  listApprovals,
  RejectRequest,
  reject,
  waitForApproval,
} from '../../actions/approvals.ts'
import { APPROVAL_STATUSES, type ApprovalStatus } from '../../approvals/approval.ts'
import { Closed, Paging, pageOf, WaitQuery, waitMsOf } from '../query.ts'
import { route } from '../route.ts'

const Status = Type.Unsafe<ApprovalStatus>({ type: 'string', enum: [...APPROVAL_STATUSES] })
const ListQuery = Type.Object({ ...Paging, status: Type.Optional(Status) }, Closed)

export const approvalRoutes = {
  listApprovals: route({
    query: ListQuery,
    handle: async (services, { caller, query }) => {
      const paging = pageOf(query, { limit: 1000, max: 1000 })
      const { items, page } = await listApprovals(services, caller, { status: query.status ?? 'pending', ...paging })
      return { data: items, page }
    },
  }),
  getApproval: route({
    query: WaitQuery,
    handle: async (services, { caller, params, query, isGone }) => {
      const waitMs = waitMsOf(query)
      const id = params.id ?? ''
      const waited =
        waitMs === 0 ? getApproval(services, caller, id) : waitForApproval(services, caller, id, waitMs, isGone)
      return { data: await waited }
    },
  }),
  approve: route({
    body: ApproveRequest,
    handle: async (services, { caller, params, body, idempotency }) => ({
      data: await approve(services, caller, params.id ?? '', body, idempotency),
    }),
  }),
  reject: route({
    body: RejectRequest,
    handle: async (services, { caller, params, body, idempotency }) => ({
      data: await reject(services, caller, params.id ?? '', body, idempotency),
    }),
  }),
}
