import { GateError } from '../../base/errors.ts'
import { type ApiKey, isActive } from '../../keys/apikey.ts'
import { isAdmin } from '../../keys/roles.ts'
import { mayCall, type RouteRule } from '../../keys/routes.ts'
import { hashSecret, isSecret } from '../../keys/secret.ts'
import type { State } from '../../store/store.ts'
import { type Caller, callerOf } from '../deps.ts'

/**
 * The key of a secret. It is looked up by its hash, so nothing is compared byte by byte.
 *
 * @param stateNow state as of now, for what has the form of a key and is not known: another process may have made it
 * @throws GateError `unauthenticated`, with the same words whether a key is unknown, revoked or expired
 */
export function keyOfSecret(state: State, secret: string, nowMs: number, stateNow = (): State => state): ApiKey {
  const hash = hashSecret(secret)
  const key = state.keysByHash.get(hash) ?? (isSecret(secret) ? stateNow().keysByHash.get(hash) : undefined)
  if (key === undefined || !isActive(key, nowMs)) throw new GateError('unauthenticated', 'The API key is not valid.')
  return key
}

/**
 * The caller in a tenant, if the key's roles permit the route there.
 *
 * @throws GateError `tenant_mismatch` for another tenant than the key's, `not_found` for a tenant that an admin names
 *   and nobody has made, `forbidden` by role
 */
export function callerFor(state: State, key: ApiKey, tenantId: string, route: RouteRule): Caller {
  const admin = isAdmin(key.roles)
  if (!admin && tenantId !== key.tenantId)
    throw new GateError('tenant_mismatch', 'The API key belongs to another tenant.')
  if (admin && !state.tenants.has(tenantId)) throw new GateError('not_found', 'There is no such tenant.')
  if (!mayCall(route, key.roles)) {
    const needed = Array.isArray(route.roles) && route.roles.length > 0 ? `${route.roles.join(', ')} or owner` : 'owner'
    throw new GateError('forbidden', `This needs a key with role ${needed}; this key has ${key.roles.join(', ')}.`)
  }
  return callerOf(key, tenantId)
}
