import type { Static, TSchema } from 'typebox'
import type { Caller } from '../actions/deps.ts'
import { type Idempotency, idempotencyOf } from '../actions/idempotency.ts'
import { GateError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { isJsonObject } from '../base/json.ts'
import { parserOf } from '../base/schema.ts'
import type { RouteId } from '../keys/roles.ts'
import { type BodyLimits, REQUEST_LIMITS } from './body.ts'
import type { Services } from './services.ts'
import type { Stream } from './stream.ts'

export interface Page {
  limit: number
  offset: number
  total: number
}

/** What a route answers: data, which dispatch wraps in the envelope, or events as they come. */
export type Reply = { data: unknown; page?: Page } | { stream: Stream }

/** A request as a route sees it: authenticated, parsed, of the declared shape. */
export interface Call<B, Q> {
  caller: Caller
  params: Readonly<Record<string, string>>
  body: B
  query: Q
  idempotency: Idempotency | undefined
  /** The position that a stream of events goes on from, as the client sent it. */
  lastEventId: string | undefined
  /** True when the client has gone, or the service stops: nothing waits any longer. */
  isGone(): boolean
}

/** A route without its shapes, as dispatch runs it. */
export interface Route {
  bodyLimits: BodyLimits | undefined
  run(services: Services, raw: RawCall): Promise<Reply>
}

export interface RawCall {
  id: RouteId
  caller: Caller
  params: Readonly<Record<string, string>>
  body: Json | undefined
  query: Record<string, string>
  idempotencyKey: string | undefined
  lastEventId: string | undefined
  isGone(): boolean
}

interface RouteSpec<B extends TSchema, Q extends TSchema> {
  body?: B
  query?: Q
  limits?: BodyLimits
  handle(services: Services, call: Call<Static<B>, Static<Q>>): Promise<Reply> | Reply
}

type None = TSchema & { static: undefined }

/** Binds a handler to the shapes of its body and query; anything else is `invalid_request`. */
export function route<B extends TSchema = None, Q extends TSchema = None>(spec: RouteSpec<B, Q>): Route {
  const parseBody = spec.body && parserOf(spec.body)
  const parseQuery = spec.query && parserOf(spec.query)
  return {
    bodyLimits: spec.body && (spec.limits ?? REQUEST_LIMITS),
    async run(services, { id, caller, params, body, query, idempotencyKey, lastEventId, isGone }) {
      if (isJsonObject(body)) assertTenant(caller, body.tenantId)
      const typed = parseBody?.(body) as Static<B>
      if (parseQuery === undefined) assertNoQuery(query)
      const parsedQuery = parseQuery?.(query) as Static<Q>
      const idempotency = idempotencyOf(idempotencyKey, id, { params, body: body ?? null })
      const call = { caller, params, body: typed, query: parsedQuery, idempotency, lastEventId, isGone }
      return spec.handle(services, call)
    },
  }
}

/** A body may repeat the tenant; it must be the one that the credential was checked for. */
function assertTenant(caller: Caller, tenantId: Json | undefined): void {
  if (typeof tenantId === 'string' && tenantId !== caller.tenantId) {
    throw new GateError('tenant_mismatch', 'tenantId in the body is not the tenant of x-tenant-id.')
  }
}

function assertNoQuery(query: Record<string, string>): void {
  const [name] = Object.keys(query)
  if (name === undefined) return
  throw new GateError('invalid_request', `${name} is not a known query parameter.`, {
    details: [{ path: `/${name}`, message: 'is not a known query parameter' }],
  })
}
