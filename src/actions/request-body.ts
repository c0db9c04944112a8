import { type TProperties, Type } from '#typebox'
import { TenantIdField } from '../gate/request.ts'

/** Body of a request, which may name its tenant; members that it does not name are refused. */
export function requestBody<P extends TProperties>(title: string, properties: P) {
  return Type.Object({ tenantId: TenantIdField, ...properties }, { additionalProperties: false, title })
}
