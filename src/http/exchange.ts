import type { IncomingMessage } from 'node:http'
import type { Caller } from '../actions/deps.ts'
import type { Idempotency } from '../actions/idempotency.ts'
import { type KeyedRouteId, ROUTES } from '../keys/routes.ts'
import type { Credential } from './auth.ts'
import { originOf } from './origin.ts'
import type { RateLimiter } from './ratelimit.ts'
import type { Services } from './services.ts'

/** Time that a request takes, without what it waited for its client and for people. */
export interface Span {
  sinceMs: number
  waitedMs: number
}

/** An admitted request, on its way to its handler. */
export interface Exchange {
  services: Services
  limiter: RateLimiter
  routeId: KeyedRouteId
  params: Readonly<Record<string, string>>
  caller: Caller
  credential: Credential
  request: IncomingMessage
  span: Span
}

/** A request as its handler sees it: authenticated, parsed, of the declared shape. */
export class Call<B, Q> {
  readonly caller: Caller
  readonly credential: Credential
  /** The parameter `:id` of the path; empty in a path without it. */
  readonly id: string
  readonly body: B
  readonly query: Q
  readonly idempotency: Idempotency | undefined
  private readonly exchange: Exchange

  constructor(exchange: Exchange, body: B, query: Q, idempotency: Idempotency | undefined) {
    this.caller = exchange.caller
    this.credential = exchange.credential
    this.id = exchange.params.id ?? ''
    this.body = body
    this.query = query
    this.idempotency = idempotency
    this.exchange = exchange
  }

  /** Scheme and host by which the client reached the service. */
  get origin(): string {
    return originOf(this.exchange.request.headers)
  }

  /** Position after which a stream of events resumes, as the client sent it. */
  get lastEventId(): string | undefined {
    return this.exchange.request.headers['last-event-id']?.toString()
  }

  /** Counts this many further requests. @throws GateError `rate_limited` */
  alsoCount(requests: number): void {
    const { limiter, services, routeId } = this.exchange
    for (let i = 0; i < requests; i += 1) limiter.admit(services.store.state(), this.caller, ROUTES[routeId])
  }

  /** Requests that the plan leaves the tenant here now; null for any number. */
  planLeft(): number | null {
    const { limiter, services } = this.exchange
    return limiter.left(services.store.state(), this.caller)
  }

  /** Adds time, in ms, that the request waited for people. */
  waited(ms: number): void {
    this.exchange.span.waitedMs += ms
  }

  /** True when the client has gone, or the service stops: nothing waits any longer. */
  isGone(): boolean {
    const { stopping } = this.exchange.services
    return this.caller.hasHungUp?.() === true || stopping.aborted || this.isSessionOver()
  }

  /** The end of a browser's session ends its waits and streams. */
  private isSessionOver(): boolean {
    const { sessions } = this.exchange.services
    return this.credential.by === 'session' && !sessions.isOpen(this.credential.session)
  }
}
