import type { IncomingHttpHeaders } from 'node:http'
import { type Caller, callerOf } from '../actions/deps.ts'
import { SYSTEM_CHAIN } from '../audit/chain.ts'
import { GateError } from '../base/errors.ts'
import { type ApiKey, hashSecret, isActive, isSecret } from '../keys/apikey.ts'
import { isAdmin, mayCall, type RouteRule } from '../keys/roles.ts'
import type { State } from '../store.ts'

/**
 * The key of the request. The secret is looked up by its hash, so nothing is compared byte by byte.
 *
 * @throws GateError `unauthenticated`, with the same words whether a key is unknown, revoked or expired
 */
export function authenticate(state: State, headers: IncomingHttpHeaders, nowMs: number): ApiKey {
  const secret = headers['x-api-key']
  if (typeof secret !== 'string' || secret === '')
    throw new GateError('unauthenticated', 'Send your API key in the x-api-key header.')
  const key = isSecret(secret) ? state.keysByHash.get(hashSecret(secret)) : undefined
  if (key === undefined || !isActive(key, nowMs)) throw new GateError('unauthenticated', 'The API key is not valid.')
  return key
}

/**
 * The caller for the tenant that the request names.
 *
 * @throws GateError `unauthenticated` without x-tenant-id, `tenant_mismatch` for another tenant than the
 *   key's, `not_found` for a tenant that an admin names and nobody has made, `forbidden` by role
 */
export function authorize(state: State, key: ApiKey, headers: IncomingHttpHeaders, route: RouteRule): Caller {
  const named = headers['x-tenant-id']
  if (named === undefined && route.tenantOptional) return callerOf(key, key.tenantId ?? SYSTEM_CHAIN)
  if (typeof named !== 'string' || named === '')
    throw new GateError('unauthenticated', 'Name your tenant in the x-tenant-id header.')
  const admin = isAdmin(key.roles)
  if (!admin && named !== key.tenantId) throw new GateError('tenant_mismatch', 'The API key belongs to another tenant.')
  if (admin && !state.tenants.has(named)) throw new GateError('not_found', 'There is no such tenant.')
  if (!mayCall(route, key.roles)) {
    const needed = Array.isArray(route.roles) && route.roles.length > 0 ? `${route.roles.join(', ')} or owner` : 'owner'
    throw new GateError('forbidden', `This needs a key with role ${needed}; this key has ${key.roles.join(', ')}.`)
  }
  return callerOf(key, named)
}
