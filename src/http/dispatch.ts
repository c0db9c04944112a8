import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Caller, CallerGone, stateNow } from '../actions/deps.ts'
import { GateError } from '../base/errors.ts'
import { assertHost } from '../base/host.ts'
import { parseJson } from '../base/json.ts'
import type { ApiKey } from '../keys/apikey.ts'
import { type KeyedRouteId, ROUTES, type RouteRule } from '../keys/routes.ts'
import { authenticate, authorize, type Credential } from './auth.ts'
import { type BodyLimits, readBody } from './body.ts'
import type { BodyShare, bodyBudget } from './body-budget.ts'
import { writeError } from './errors.ts'
import type { Exchange, Span } from './exchange.ts'
import type { LimitHeaders, RateLimiter } from './ratelimit.ts'
import { isRefusal, type Refusals } from './refusals.ts'
import { writeEnvelope, writeJson } from './reply.ts'
import type { Reply, Route } from './route.ts'
import type { Services } from './services.ts'
import { setSessionCookie } from './sessions/cookie.ts'
import type { stallWatch } from './stalls.ts'
import { writeStream } from './stream.ts'

export interface Dispatcher {
  services: Services
  limiter: RateLimiter
  /** Reserves body memory for one request. */
  bodies: ReturnType<typeof bodyBudget>
  refusals: Refusals
  stalls: ReturnType<typeof stallWatch>
}

/** Route that handles a request. */
export interface Handled {
  id: KeyedRouteId
  route: Route
}

/** A body beyond this is handled in parts, between which others are served: each part takes milliseconds. */
const LARGE_BYTES = 8 * 1024

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/
/** The form of the header, with or without quotes, which do not count: its draft has them, most clients omit them. */
export const IDEMPOTENCY_KEY_PATTERN = '^([!#-~]{1,255}|"[!#-~]{1,255}")$'
const IDEMPOTENCY_KEY = new RegExp(IDEMPOTENCY_KEY_PATTERN)

/**
 * Handles every request: host → key → limit → tenant and role → body → action → envelope, or the form of a facade.
 * Express and the direct listener both call it, so a route behaves the same on either.
 */
export async function dispatch(
  dispatcher: Dispatcher,
  { id, route }: Handled,
  params: Readonly<Record<string, string>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { services, stalls } = dispatcher
  const requestId = requestIdOf(dispatcher, request)
  const identity: Identity = { key: undefined, caller: undefined }
  const span: Span = { sinceMs: performance.now(), waitedMs: 0 }
  let admitted: Admitted | undefined
  try {
    assertHost(request.headers.host, services.allowedHosts)
    // A revocation by another process counts from its commit. A check asks for itself.
    if (id !== 'check' || request.headers['idempotency-key'] !== undefined) await stateNow(services.store)
    const found = authenticate(services, request, ROUTES[id])
    const credential = found instanceof Promise ? await found : found
    admitted = admit(dispatcher, id, identity, credential, { request, response })
    const beforeMs = performance.now()
    let bytes: Buffer | undefined
    try {
      if (hasBody(route, request)) bytes = await readBody(request, route.bodyLimits, admitted.share)
    } finally {
      span.waitedMs += performance.now() - beforeMs
    }
    const isLarge = bytes !== undefined && bytes.byteLength > LARGE_BYTES
    if (isLarge) await services.pause?.(admitted.caller.tenantId)
    const input = inputOf({ id, route }, request, bytes)
    if (stalls.isNear()) await stalls.readSockets()
    const { limiter } = dispatcher
    const { caller } = admitted
    const exchange: Exchange = { services, limiter, routeId: id, params, caller, credential, request, span }
    const reply = route.replyOf(await route.run(isLarge ? { ...services, isLarge } : services, exchange, input))
    if (id === 'check') services.latency.note(lengthOf(span), 'decided')
    const headers = headersOf(admitted, reply, request)
    if ('stream' in reply) await writeStream(response, reply.stream, requestId, headers)
    else write(response, route, reply, requestId, headers)
  } catch (error) {
    if (error instanceof CallerGone) return void response.destroy()
    const { facade }: RouteRule = ROUTES[id]
    if (id === 'check') services.latency.note(lengthOf(span), 'refused')
    writeError(response, refusal(dispatcher, identity, error), requestId, services, facade)
  } finally {
    admitted?.share.release()
  }
}

/** Key and caller of a request, as far as known so far. */
export interface Identity {
  key: ApiKey | undefined
  caller: Caller | undefined
}

const lengthOf = ({ sinceMs, waitedMs }: Span): number => performance.now() - sinceMs - waitedMs

/** Result of admission. */
interface Admitted {
  caller: Caller
  /** About the caller's limits. */
  headers: LimitHeaders
  share: BodyShare
}

/**
 * Finds the caller, who must be permitted the route, and within its limits.
 *
 * @param identity is told who asks, as soon as it is known
 */
function admit(
  { services, limiter, bodies }: Dispatcher,
  id: KeyedRouteId,
  identity: Identity,
  credential: Credential,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Admitted {
  const rule: RouteRule = ROUTES[id]
  const { key } = credential
  identity.key = key
  services.keyUses.note(key.id, services.clock())
  const state = services.store.state()
  const caller = authorize(state, key, request.headers, rule)
  caller.hasHungUp = () => isClosed(request.socket) || response.destroyed
  identity.caller = caller
  const headers = limiter.admit(state, caller, rule)
  return { caller, headers, share: bodies(key.id, rule.limit === 'exempt') }
}

function write(
  response: ServerResponse,
  { shape }: Route,
  { data, page }: Exclude<Reply, { stream: unknown }>,
  requestId: string,
  headers: LimitHeaders,
): void {
  if (shape.bare) writeJson(response, shape.status ?? 200, data, requestId, headers)
  else if (page === undefined) writeEnvelope(response, 200, { success: true, data, requestId }, headers)
  else writeEnvelope(response, 200, { success: true, data, page, requestId }, headers)
}

function headersOf({ headers }: Admitted, reply: Reply, request: IncomingMessage): LimitHeaders {
  if (!('sessionCookie' in reply) || reply.sessionCookie === undefined) return headers
  return { ...headers, ...setSessionCookie(request.headers, reply.sessionCookie) }
}

/**
 * Counts and audits refusals of the caller, wherever they were found, also those of unknown keys.
 * Guessing uses up a limit, after which the answer is `rate_limited`.
 */
export function refusal({ limiter, refusals }: Dispatcher, { key, caller }: Identity, error: unknown): unknown {
  if (!(error instanceof GateError)) return error
  // An admin who names a tenant that does not exist is guessing too.
  const isGuess = caller === undefined && error.code === 'not_found'
  if (!isGuess && !isRefusal(error.code)) return error
  try {
    limiter.refused(key?.id)
  } catch (limited) {
    return limited
  }
  refusals.count(key, error.code)
  return error
}

export function requestIdOf({ services }: Dispatcher, request: IncomingMessage): string {
  const sent = request.headers['x-request-id']
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : services.newId('request')
}

/**
 * True when the client has closed the connection. An answer that waits for an earlier one is not destroyed by that, so
 * the socket is looked at. Node ends its side as soon as the client has ended the other.
 */
function isClosed(socket: IncomingMessage['socket']): boolean {
  return socket.destroyed || socket.readableEnded
}

function inputOf(
  { id, route: { bodyLimits, takesBytes } }: Handled,
  request: IncomingMessage,
  bytes: Buffer | undefined,
) {
  const rule: RouteRule = ROUTES[id]
  const hasJson = bodyLimits !== undefined && !takesBytes
  return {
    body: hasJson ? (bytes === undefined ? {} : parseJson(bytes, bodyLimits)) : undefined,
    bytes: takesBytes ? bytes : undefined,
    query: queryOf(request),
    idempotencyKey: rule.idempotent ? idempotencyKeyOf(request) : undefined,
  }
}

/** False for a route without a body, and for one that may be left out, and is. */
function hasBody(route: Route, { headers }: IncomingMessage): route is Route & { bodyLimits: BodyLimits } {
  if (route.bodyLimits === undefined) return false
  // RFC 9112, 6.3: a request without either header has no body.
  return (
    !route.shape.bodyOptional ||
    headers['transfer-encoding'] !== undefined ||
    Number(headers['content-length'] ?? 0) > 0
  )
}

/** Parameters by name. A repeated one is refused, since readers differ on which counts. */
function queryOf(request: IncomingMessage): Record<string, string> {
  const url = request.url ?? ''
  const mark = url.indexOf('?')
  if (mark < 0) return {}
  const query: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(url.slice(mark + 1))) {
    if (name in query) throw new GateError('invalid_request', `${name} appears twice in the query.`)
    query[name] = value
  }
  return query
}

function idempotencyKeyOf(request: IncomingMessage): string | undefined {
  const sent = request.headers['idempotency-key']
  if (sent === undefined) return undefined
  if (typeof sent !== 'string' || !IDEMPOTENCY_KEY.test(sent)) {
    throw new GateError(
      'invalid_request',
      'Idempotency-Key must be 1 to 255 visible ASCII characters, all of them in quotes or none.',
    )
  }
  return sent.replaceAll('"', '')
}
