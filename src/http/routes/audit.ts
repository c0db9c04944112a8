import { Type } from '#typebox'
import { auditChain, LogRequest, logEntry } from '../../actions/audit.ts'
import { VerifyRequest, verifyRange } from '../../actions/verify-range.ts'
import { GateError } from '../../base/errors.ts'
import { formatTimestamp, LAST_TIME_MS, parseRfc3339 } from '../../base/time.ts'
import { Closed, Paging, pageOf, wholeNumber } from '../query.ts'
import { route } from '../route.ts'
import {
  AuditEntry,
  auditChainExample,
  auditLogExample,
  auditVerifyExample,
  RangeVerification,
} from '../shapes/audit.ts'
import { oneOf } from '../shapes/common.ts'

const Time = { format: 'date-time', maxLength: 64 }
const ChainQuery = Type.Object(
  {
    ...Paging,
    order: Type.Optional(oneOf(['asc', 'desc'], 'Newest first without it.')),
    before: wholeNumber('Only entries with a smaller `seq`.'),
    eventType: Type.Optional(Type.String({ maxLength: 128, description: 'Only entries of this type.' })),
    from: Type.Optional(Type.String({ ...Time, description: 'From this time on.' })),
    to: Type.Optional(Type.String({ ...Time, description: 'Before this time.' })),
  },
  Closed,
)

export const auditRoutes = {
  auditChain: route({
    query: ChainQuery,
    data: Type.Array(AuditEntry),
    paged: true,
    example: auditChainExample,
    handle: async (services, { caller, query }) => {
      const { items, page } = await auditChain(services, {
        chain: caller.chain,
        order: query.order ?? 'desc',
        ...pageOf(query, { limit: 50, max: 500 }),
        before: query.before,
        eventType: query.eventType,
        from: timeOf('from', query.from),
        to: timeOf('to', query.to),
      })
      return { data: items, page }
    },
  }),
  auditVerify: route({
    body: VerifyRequest,
    data: RangeVerification,
    example: auditVerifyExample,
    handle: async (services, { caller, body }) => ({
      data: await verifyRange(services, caller.chain, body, await services.outside()),
    }),
  }),
  auditLog: route({
    body: LogRequest,
    data: AuditEntry,
    example: auditLogExample,
    handle: async (services, { caller, body, idempotency }) => ({
      data: await logEntry(services, caller, body, idempotency),
    }),
  }),
}

/** An RFC 3339 time in the form in which entries carry theirs. */
function timeOf(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const ms = parseRfc3339(text)
  if (ms !== undefined) return formatTimestamp(Math.min(ms, LAST_TIME_MS))
  throw new GateError('invalid_request', `${name} must be a time with a zone, such as 2026-01-31T12:00:00Z.`, {
    details: [{ path: `/${name}`, message: 'must be an RFC 3339 time with a zone' }],
  })
}
