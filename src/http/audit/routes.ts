import * as Type from '#typebox'
import { auditChain, LogRequest, logEntry } from '../../actions/audit/audit.ts'
import { verificationStream } from '../../actions/audit/verify-live.ts'
import { Days, VerifyRequest, verifyRange } from '../../actions/audit/verify-range.ts'
import { oneOf, placeBefore } from '../common-shapes.ts'
import { Paging, pageOf, queryShape, TimeRange, timesOf } from '../query.ts'
import { route } from '../route.ts'
import * as shapes from './shapes.ts'

const ChainQuery = queryShape({
  ...Paging,
  order: Type.Optional(oneOf(['asc', 'desc'], 'Newest first without it.')),
  before: placeBefore('Only entries before this place of the trail: the id of an entry, or `<chain>:<seq>`.'),
  eventType: Type.Optional(Type.String({ maxLength: 128, description: 'Only entries of this type.' })),
  ...TimeRange,
})

export const auditRoutes = {
  auditChain: route({
    query: ChainQuery,
    data: Type.Array(shapes.AuditEntry),
    paged: true,
    example: shapes.auditChainExample,
    reply: async (services, { caller, query }) => {
      const { items, page } = await auditChain(services, {
        trail: caller.chain,
        order: query.order ?? 'desc',
        ...pageOf(query, { limit: 50, max: 500 }),
        before: query.before,
        eventType: query.eventType,
        ...timesOf(query),
      })
      return { data: items, page }
    },
  }),
  auditVerify: route({
    body: VerifyRequest,
    data: shapes.RangeVerification,
    example: shapes.auditVerifyExample,
    answer: async (services, { caller, body }) =>
      verifyRange(services, caller.chain, body, await services.readAnchors()),
  }),
  auditVerifyLive: route({
    query: Days,
    data: shapes.VerificationText,
    bare: 'text/event-stream',
    example: shapes.auditVerifyLiveExample,
    reply: async (services, call) => ({
      stream: verificationStream(services, call.caller, call.query, await services.readAnchors(), () => call.isGone()),
    }),
  }),
  auditLog: route({
    body: LogRequest,
    data: shapes.AuditEntry,
    example: shapes.auditLogExample,
    answer: async (services, { caller, body, idempotency }) => logEntry(services, caller, body, idempotency),
  }),
}
