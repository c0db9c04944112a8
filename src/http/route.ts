import type { Static, TSchema } from '#typebox'
import type { Caller } from '../actions/deps.ts'
import { idempotencyOf } from '../actions/idempotency.ts'
import type { PageGiven } from '../actions/page.ts'
import type { Stream } from '../actions/waiters.ts'
import { type ErrorCode, GateError } from '../base/errors.ts'
import { isJsonObject, type Json } from '../base/json.ts'
import { parserOf } from '../base/schema.ts'
import { ROUTES, type RouteRule } from '../keys/routes.ts'
import { assertTenant } from './auth.ts'
import { type BodyLimits, REQUEST_LIMITS } from './body.ts'
import { Call, type Exchange } from './exchange.ts'
import { withNumbers } from './query.ts'
import type { Services } from './services.ts'

/**
 * Result of a route: data, which dispatch wraps in the envelope, or a stream of events.
 * The browser keeps `sessionCookie`, and drops its cookie when it is empty.
 */
export type Reply<T = unknown> = { data: T; page?: PageGiven; sessionCookie?: string } | { stream: Stream }

/** Input and output of a route, as in the OpenAPI document. */
export interface RouteShape {
  /** The parameter `:id` of the path. */
  id?: { description: string; example: string }
  body?: TSchema
  /** An absent body equals `{}`. */
  bodyOptional?: true
  query?: TSchema
  /** Shape of `data` in the answer. */
  data: TSchema
  paged?: true
  /** The answer is `data` itself, without the envelope; for events, the text of the stream. */
  bare?: 'application/json' | 'text/event-stream' | 'text/plain'
  /** The stream of events resumes after the header Last-Event-ID. */
  resumable?: true
  /** Status of an answer without failure. @default 200 */
  status?: 202
  /** Failures besides those that every route of its kind has (openapi.ts). */
  errors?: readonly ErrorCode[]
  example: { body?: unknown; data: unknown }
}

/** Route without its types, as dispatch runs it. */
export interface Route {
  shape: RouteShape
  bodyLimits: BodyLimits | undefined
  /** True when the route takes the bytes of the body instead of its parsed value. */
  takesBytes: boolean
  /** Compiles the shape of the body, which takes the first request that has one some 20 ms otherwise. */
  prepare(): void
  run(services: Services, exchange: Exchange, input: Input): unknown
  /** The reply of what `run` resolved to. */
  replyOf(result: unknown): Reply
}

/** Input of a request, besides its path and headers. */
interface Input {
  body: Json | undefined
  /** Set for a route that takes bytes. */
  bytes: Uint8Array | undefined
  query: Readonly<Record<string, string>>
  idempotencyKey: string | undefined
}

/** Read-only value: data of the views may be shared. */
type ReadOnly<T> = T extends object ? { readonly [K in keyof T]: ReadOnly<T[K]> } : T

type Answer<D extends TSchema> = Promise<ReadOnly<Static<D>>> | ReadOnly<Static<D>>

interface TypedShape<B extends TSchema, Q extends TSchema, D extends TSchema> extends RouteShape {
  body?: B
  query?: Q
  data: D
  example: { body?: Static<B>; data: ReadOnly<Static<D>> }
}

type RouteSpec<B extends TSchema, Q extends TSchema, D extends TSchema> = TypedShape<B, Q, D> & {
  limits?: BodyLimits
} & (
    | { answer(services: Services, call: Call<Static<B>, Static<Q>>): Answer<D> }
    /** For routes that answer a page, a stream or a cookie. */
    | { reply(services: Services, call: Call<Static<B>, Static<Q>>): Promise<Reply<ReadOnly<Static<D>>>> }
  )

type None = TSchema & { static: undefined }

/** Binds a handler to the shapes of its body, query and answer; a request of another shape is `invalid_request`. */
export function route<D extends TSchema, B extends TSchema = None, Q extends TSchema = None>(
  spec: RouteSpec<B, Q, D>,
): Route {
  const parseBody = spec.body && parserOf(spec.body)
  const parseQuery = spec.query && parserOf(spec.query)
  return {
    shape: spec,
    bodyLimits: spec.body && (spec.limits ?? REQUEST_LIMITS),
    takesBytes: false,
    prepare: () => void parseBody?.compile(),
    run(services, exchange, { body, query, idempotencyKey }) {
      const { routeId, params, caller } = exchange
      const { facade }: RouteRule = ROUTES[routeId]
      // Other protocols give this member no meaning.
      if (facade === undefined && isJsonObject(body)) assertTenant(caller.tenantId, body.tenantId)
      const typed = parseBody?.(body) as Static<B>
      if (parseQuery === undefined) assertNoQuery(query)
      const parsedQuery = parseQuery?.(withNumbers(query, spec.query ?? {})) as Static<Q>
      const idempotency = idempotencyOf(idempotencyKey, routeId, { params, body: body ?? null })
      const call = new Call(exchange, typed, parsedQuery, idempotency)
      return 'answer' in spec ? spec.answer(services, call) : spec.reply(services, call)
    },
    replyOf: 'answer' in spec ? dataOf : asReply,
  }
}

const dataOf = (data: unknown): Reply => ({ data })
/** @param result of `reply` */
const asReply = (result: unknown): Reply => result as Reply

interface ByteRouteSpec<D extends TSchema> extends TypedShape<TSchema, TSchema, D> {
  limits: BodyLimits
  answer(services: Services, call: { caller: Caller; bytes: Uint8Array }): Answer<D>
}

/** Route whose body can take long to parse: it gets the bytes, and must parse them off the main thread. */
export function byteRoute<D extends TSchema>(spec: ByteRouteSpec<D>): Route {
  return {
    shape: spec,
    bodyLimits: spec.limits,
    takesBytes: true,
    prepare: () => undefined,
    run(services, { caller }, { bytes = new Uint8Array(), query }) {
      assertNoQuery(query)
      return spec.answer(services, { caller, bytes })
    },
    replyOf: dataOf,
  }
}

/** Route that needs no key and takes no input. */
export interface PublicRoute {
  shape: RouteShape
  answer(services: Services, origin: string): unknown
}

interface PublicSpec<D extends TSchema> extends TypedShape<None, None, D> {
  answer(services: Services, origin: string): Answer<D>
}

/** Binds the answer of a public route to its shape. */
export function publicRoute<D extends TSchema>(spec: PublicSpec<D>): PublicRoute {
  return { shape: spec, answer: spec.answer }
}

function assertNoQuery(query: Record<string, string>): void {
  const [name] = Object.keys(query)
  if (name === undefined) return
  throw new GateError('invalid_request', `${name} is not a known query parameter.`, {
    details: [{ path: `/${name}`, message: 'is not a known query parameter' }],
  })
}
