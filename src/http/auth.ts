import type { IncomingHttpHeaders } from 'node:http'
import { callerFor, keyOfSecret } from '../actions/authenticate.ts'
import { type Caller, callerOf } from '../actions/deps.ts'
import { SYSTEM_CHAIN } from '../audit/chain.ts'
import { GateError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { ApiKey } from '../keys/apikey.ts'
import type { RouteRule } from '../keys/roles.ts'
import type { State } from '../store.ts'

const BEARER = /^Bearer +(\S+)$/i

/** The key of the request. @throws GateError `unauthenticated` */
export function authenticate(state: State, headers: IncomingHttpHeaders, route: RouteRule, nowMs: number): ApiKey {
  const bearer = route.facade && BEARER.exec(headers.authorization ?? '')?.[1]
  const secret = headers['x-api-key'] ?? bearer
  if (typeof secret !== 'string' || secret === '')
    throw new GateError(
      'unauthenticated',
      `Send your API key in the x-api-key header${route.facade ? ', or as a bearer token' : ''}.`,
    )
  return keyOfSecret(state, secret, nowMs)
}

/**
 * The caller for the tenant that the request names; on a facade, where it names none, for that of the key.
 *
 * @throws GateError `unauthenticated` without x-tenant-id, and what `callerFor` throws
 */
export function authorize(state: State, key: ApiKey, headers: IncomingHttpHeaders, route: RouteRule): Caller {
  const named = headers['x-tenant-id'] ?? (route.facade && key.tenantId !== null ? key.tenantId : undefined)
  if (named === undefined && route.tenantOptional) return callerOf(key, key.tenantId ?? SYSTEM_CHAIN)
  if (typeof named !== 'string' || named === '')
    throw new GateError('unauthenticated', 'Name your tenant in the x-tenant-id header.')
  return callerFor(state, key, named, route)
}

/**
 * A body may repeat the tenant; it must be the one that the credential was checked for.
 *
 * @throws GateError `tenant_mismatch`
 */
export function assertTenant(tenantId: string, named: Json | undefined): void {
  if (typeof named === 'string' && named !== tenantId) {
    throw new GateError('tenant_mismatch', 'tenantId in the body is not the tenant of x-tenant-id.')
  }
}
