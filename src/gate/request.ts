import { type Static, Type } from 'typebox'
import { ACTION_PATTERN } from '../base/glob.ts'
import type { JsonObject } from '../base/json.ts'

/** Longest free text that a caller may send as a name, reason or comment, in UTF-16 units. */
export const MAX_TEXT = 2000

const Closed = { additionalProperties: false }
export const TenantIdField = Type.Optional(Type.String({ description: 'Must be the tenant of x-tenant-id.' }))
const Body = Type.Unsafe<JsonObject>(Type.Object({}))
const Action = Type.String({ pattern: ACTION_PATTERN, description: 'Action type, such as payment.transfer.' })

/** Body of POST /gate/check. */
export const CheckRequest = Type.Object(
  {
    tenantId: Type.String({ description: 'Must be the tenant of x-tenant-id.' }),
    action: Action,
    context: Type.Optional(Body),
    plan: Type.Optional(Body),
    approvalId: Type.Optional(Type.String({ maxLength: 64, description: 'An approval to use.' })),
  },
  Closed,
)
export type CheckRequest = Static<typeof CheckRequest>

/** Body of POST /gate/risk. */
export const RiskRequest = Type.Object(
  { tenantId: TenantIdField, action: Action, context: Type.Optional(Body), plan: Type.Optional(Body) },
  Closed,
)
export type RiskRequest = Static<typeof RiskRequest>
