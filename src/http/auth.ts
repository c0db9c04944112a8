import type { IncomingMessage } from 'node:http'
import { type Caller, callerOf } from '../actions/deps.ts'
import { callerFor, keyOfSecret } from '../actions/keys/authenticate.ts'
import type { Session } from '../actions/sessions/sessions.ts'
import { SYSTEM_CHAIN } from '../audit/chain.ts'
import { GateError } from '../base/errors.ts'
import { isFromHere } from '../base/host.ts'
import type { Json } from '../base/json.ts'
import type { ApiKey } from '../keys/apikey.ts'
import { ALL } from '../keys/roles.ts'
import { mayCall, type RouteRule } from '../keys/routes.ts'
import type { Awaitable } from '../store/steps.ts'
import type { State } from '../store/store.ts'
import { assertSameOrigin } from './origin.ts'
import type { Services } from './services.ts'
import { sessionCookies } from './sessions/cookie.ts'

const BEARER = /^Bearer +(\S+)$/i

/** Key that a request acts with, and the proof that identified it. */
export type Credential = { key: ApiKey } & (
  | { by: 'key' }
  | { by: 'code'; code: string }
  | { by: 'session'; session: Session }
)

/**
 * Finds the key of a request: its own, or that of a browser session that was signed in with one.
 *
 * @throws GateError `unauthenticated`, and `origin_not_allowed` for a session that another page uses
 */
export function authenticate(
  { store, clock, sessions, signInCodes }: Pick<Services, 'store' | 'clock' | 'sessions' | 'signInCodes'>,
  request: Pick<IncomingMessage, 'headers' | 'method'>,
  route: RouteRule,
): Awaitable<Credential> {
  const { headers } = request
  const takesBearer = route.facade !== undefined || route.elsewhere !== undefined
  const bearer = takesBearer && BEARER.exec(headers.authorization ?? '')?.[1]
  const secret = headers['x-api-key'] ?? bearer
  if (typeof secret === 'string' && secret !== '') return byKey(keyOfSecret(store, secret, clock()))
  const { 'x-session-token': token, 'x-sign-in-code': code } = headers
  if (route.signIn && typeof code === 'string') {
    assertSameOrigin(request)
    return { key: signInCodes.keyOf(code), by: 'code', code }
  }
  if (route.facade === undefined && typeof token === 'string') {
    assertSameOrigin(request)
    const isUserActive = headers['x-user-active'] === '1'
    return { ...sessions.find(token, sessionCookies(headers), isUserActive), by: 'session' }
  }
  throw new GateError(
    'unauthenticated',
    `Send your API key in the x-api-key header${takesBearer ? ', or as a bearer token' : ''}.`,
  )
}

function byKey(key: Awaitable<ApiKey>): Awaitable<Credential> {
  return key instanceof Promise ? key.then(byKey) : { key, by: 'key' }
}

/**
 * Caller for the tenant that the request names; on a facade, the tenant of the key by default.
 *
 * @throws GateError `unauthenticated` without x-tenant-id, and the errors of `callerFor`
 */
export function authorize(state: State, key: ApiKey, headers: IncomingMessage['headers'], route: RouteRule): Caller {
  const named = headers['x-tenant-id'] ?? (route.facade && key.tenantId !== null ? key.tenantId : undefined)
  if (named === undefined && route.tenantOptional) return callerOf(key, key.tenantId ?? SYSTEM_CHAIN)
  if (typeof named !== 'string' || named === '')
    throw new GateError('unauthenticated', 'Name your tenant in the x-tenant-id header.')
  return callerFor(state, key, named, route)
}

/**
 * Requires a key of a public route that answers only this machine without one.
 *
 * @param identity is told the key, once it is known
 * @throws GateError `unauthenticated`, `forbidden`
 */
export async function assertFromHere(
  services: Parameters<typeof authenticate>[0],
  request: Pick<IncomingMessage, 'headers' | 'method' | 'socket'>,
  route: RouteRule,
  identity: { key: ApiKey | undefined },
): Promise<void> {
  if (route.elsewhere === undefined || isFromHere(request.socket.remoteAddress, request.headers)) return
  const { key } = await authenticate(services, request, route)
  identity.key = key
  if (mayCall({ ...route, roles: route.elsewhere }, key.roles)) return
  throw new GateError('forbidden', `This needs one of the roles ${[...route.elsewhere, ...ALL].join(', ')}.`)
}

/**
 * Requires a tenant in the body to be the one that the credential was checked for.
 *
 * @throws GateError `tenant_mismatch`
 */
export function assertTenant(tenantId: string, named: Json | undefined): void {
  if (typeof named === 'string' && named !== tenantId) {
    throw new GateError('tenant_mismatch', 'tenantId in the body is not the tenant of x-tenant-id.')
  }
}
