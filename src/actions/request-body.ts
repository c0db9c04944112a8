import { type TProperties, Type } from '#typebox'
import { TenantIdField } from '../gate/request.ts'

/** Object in a request; members that it does not name are refused. */
export function closed<P extends TProperties>(title: string, properties: P) {
  return Type.Object(properties, { additionalProperties: false, title })
}

/** Body of a request, which may name its tenant. */
export function requestBody<P extends TProperties>(title: string, properties: P) {
  return closed(title, { tenantId: TenantIdField, ...properties })
}
