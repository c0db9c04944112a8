import * as Type from '#typebox'
import { ACTION_PATTERN } from '../base/glob.ts'
import type { JsonObject } from '../base/json.ts'

/** Longest free text that a caller may send as a name, reason or comment, in UTF-16 units. */
export const MAX_TEXT = 2000
/** Longest text accepted as an id. */
export const MAX_ID = 64

const TenantIdField = Type.Optional(Type.String({ description: 'Must be the tenant of x-tenant-id.' }))
export const AnyJsonObject = Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true })
const asked = {
  action: Type.String({ pattern: ACTION_PATTERN, description: 'Action type, such as payment.transfer.' }),
  context: Type.Optional(AnyJsonObject),
  plan: Type.Optional(AnyJsonObject),
}

/** Object in a request; members that it does not name are refused. */
export function closed<P extends Type.TProperties>(title: string, properties: P) {
  return Type.Object(properties, { additionalProperties: false, title })
}

/** Body of a request, which may name its tenant. */
export function requestBody<P extends Type.TProperties>(title: string, properties: P) {
  return closed(title, { tenantId: TenantIdField, ...properties })
}

/** Body of POST /gate/check. */
export const CheckRequest = closed('CheckRequest', {
  tenantId: Type.String({ description: 'Must be the tenant of x-tenant-id.' }),
  ...asked,
  approvalId: Type.Optional(Type.String({ maxLength: MAX_ID, description: 'An approval to use.' })),
})
export type CheckRequest = Type.Static<typeof CheckRequest>

/** Body of POST /gate/risk. */
export const RiskRequest = requestBody('RiskRequest', asked)
export type RiskRequest = Type.Static<typeof RiskRequest>
