import { GateError } from '../../base/errors.ts'
import { type ApiKey, isActive } from '../../keys/apikey.ts'
import { isAdmin } from '../../keys/roles.ts'
import { mayCall, type RouteRule } from '../../keys/routes.ts'
import { hashSecret, isSecret } from '../../keys/secret.ts'
import type { Awaitable } from '../../store/steps.ts'
import type { State, Store } from '../../store/store.ts'
import { type Caller, callerOf, stateNow } from '../deps.ts'

/**
 * The key of a secret. It is looked up by its hash, so nothing is compared byte by byte.
 *
 * A key that is not known may have been made by another process since: for that one, it returns a promise.
 *
 * @throws GateError `unauthenticated`, with the same words whether a key is unknown, revoked or expired
 */
export function keyOfSecret(store: Pick<Store, 'state' | 'refresh'>, secret: string, nowMs: number): Awaitable<ApiKey> {
  const hash = hashSecret(secret)
  const known = store.state().keysByHash.get(hash)
  if (known !== undefined || !isSecret(secret)) return activeKey(known, nowMs)
  return stateNow(store).then(({ keysByHash }) => activeKey(keysByHash.get(hash), nowMs))
}

function activeKey(key: ApiKey | undefined, nowMs: number): ApiKey {
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
