import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Caller, CallerGone, stateNow } from '../actions/deps.ts'
import { GateError } from '../base/errors.ts'
import { assertHost } from '../base/host.ts'
import { type Json, parseJson } from '../base/json.ts'
import type { ApiKey } from '../keys/apikey.ts'
import { type KeyedRouteId, ROUTES, type RouteRule } from '../keys/routes.ts'
import { authenticate, authorize, type Credential } from './auth.ts'
import { readBody } from './body.ts'
import type { bodyBudget } from './body-budget.ts'
import { writeError } from './errors.ts'
import { originOf } from './origin.ts'
import type { RateLimiter } from './ratelimit.ts'
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
  const { services } = dispatcher
  const requestId = requestIdOf(dispatcher, request)
  const identity: Identity = { key: undefined, caller: undefined }
  const span: Span = { sinceMs: performance.now(), waitedMs: 0 }
  try {
    assertHost(request.headers.host, services.allowedHosts)
    const { reply, headers } = await serve(dispatcher, { id, route }, params, { identity, span }, request, response)
    if (id === 'check') services.latency.note(lengthOf(span), 'decided')
    if ('stream' in reply) return await writeStream(response, reply.stream, requestId, headers)
    const { data, page } = reply
    const { bare, status = 200 } = route.shape
    if (bare) writeJson(response, status, data, { 'x-request-id': requestId, ...headers })
    else writeEnvelope(response, 200, { success: true, data, ...(page && { page }), requestId }, headers)
  } catch (error) {
    if (error instanceof CallerGone) return void response.destroy()
    const { facade }: RouteRule = ROUTES[id]
    if (id === 'check') services.latency.note(lengthOf(span), 'refused')
    writeError(response, refusal(dispatcher, identity, error), requestId, services, facade)
  }
}

/** Key and caller of a request, as far as known so far. */
export interface Identity {
  key: ApiKey | undefined
  caller: Caller | undefined
}

/** Time that a request takes, without what it waited for its client and for people. */
interface Span {
  sinceMs: number
  waitedMs: number
}

const lengthOf = ({ sinceMs, waitedMs }: Span): number => performance.now() - sinceMs - waitedMs

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

async function serve(
  dispatcher: Dispatcher,
  { id, route }: Handled,
  params: Readonly<Record<string, string>>,
  { identity, span }: { identity: Identity; span: Span },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<{ reply: Reply; headers: Record<string, string> }> {
  const { services, limiter, bodies, stalls } = dispatcher
  const rule: RouteRule = ROUTES[id]
  // A revocation by another process counts from its commit. That of a check asks for itself.
  if (id !== 'check' || request.headers['idempotency-key'] !== undefined) stateNow(services.store)
  const credential = authenticate(services, request, rule)
  const state = services.store.state()
  identity.key = credential.key
  services.keyUses.note(credential.key.id, services.clock())
  const hasHungUp = (): boolean => isClosed(request.socket) || response.destroyed
  const caller = { ...authorize(state, credential.key, request.headers, rule), hasHungUp }
  identity.caller = caller
  const headers = limiter.admit(state, caller, rule)
  const share = bodies(caller.key.id, rule.limit === 'exempt')
  try {
    const bytes = await bytesOf(route, request, share.take, span)
    const isLarge = (bytes?.byteLength ?? 0) > LARGE_BYTES
    if (isLarge) await services.pause?.(caller.tenantId)
    const read = readOf(route, bytes)
    if (stalls.isNear()) await stalls.readSockets()
    const reply = await route.run(isLarge ? { ...services, isLarge } : services, {
      routeId: id,
      caller,
      credential,
      params,
      ...read,
      query: queryOf(request),
      idempotencyKey: rule.idempotent ? idempotencyKeyOf(request) : undefined,
      origin: originOf(request.headers),
      alsoCount: (requests) => {
        for (let i = 0; i < requests; i += 1) limiter.admit(state, caller, rule)
      },
      planLeft: () => limiter.left(state, caller),
      waited(ms) {
        span.waitedMs += ms
      },
      lastEventId: request.headers['last-event-id']?.toString(),
      isGone: () => hasHungUp() || services.stopping.aborted || isOver(services, credential),
    })
    const cookie = 'sessionCookie' in reply ? reply.sessionCookie : undefined
    return { reply, headers: { ...headers, ...(cookie !== undefined && setSessionCookie(request.headers, cookie)) } }
  } finally {
    share.release()
  }
}

/**
 * True when the client has closed the connection. An answer that waits for an earlier one is not destroyed by that, so
 * the socket is looked at. Node ends its side as soon as the client has ended the other.
 */
function isClosed(socket: IncomingMessage['socket']): boolean {
  return socket.destroyed || socket.readableEnded
}

/** True when the browser's session has ended, which ends its waits and streams. */
function isOver({ sessions }: Services, credential: Credential): boolean {
  return credential.by === 'session' && !sessions.isOpen(credential.session)
}

/** The body; undefined for a route without one, or where it is left out. */
async function bytesOf(
  { shape, bodyLimits }: Route,
  request: IncomingMessage,
  take: (bytes: number) => void,
  span: Span,
): Promise<Buffer | undefined> {
  if (bodyLimits === undefined || (shape.bodyOptional && !hasBody(request))) return undefined
  const sinceMs = performance.now()
  try {
    return await readBody(request, bodyLimits, take)
  } finally {
    span.waitedMs += performance.now() - sinceMs
  }
}

function readOf(
  { bodyLimits, takesBytes }: Route,
  bytes: Buffer | undefined,
): { body: Json | undefined; bytes: Uint8Array | undefined } {
  if (bodyLimits === undefined) return { body: undefined, bytes: undefined }
  if (bytes === undefined) return { body: {}, bytes: undefined }
  return takesBytes ? { body: undefined, bytes } : { body: parseJson(bytes, bodyLimits), bytes: undefined }
}

/** RFC 9112, 6.3: a request without either header has no body. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Parameters by name. A repeated one is refused, since readers differ on which counts. */
function queryOf(request: IncomingMessage): Record<string, string> {
  const url = request.url ?? ''
  const mark = url.indexOf('?')
  if (mark < 0) return {}
  const query: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(url.slice(mark + 1))) {
    if (name in query) throw new GateError('invalid_request', `${name} comes twice in the query.`)
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
