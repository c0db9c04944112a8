import { type Answer, type Form, readAnswer } from './answer.ts'
import { type Api, ROUTES } from './api.ts'
import { GateError, isPassing } from './errors.ts'
import { assertMs, MAX_MS, pause } from './pause.ts'

export interface ConnectionOptions extends TransportOptions {
  tenantId: string
  /** `sk_live_…` or `sk_test_…`. Keep it out of version control. May be a variable of the environment that is not set. */
  apiKey: string | undefined
}

export interface TransportOptions {
  /** Address of the sidecar. @default http://127.0.0.1:4283 */
  baseUrl?: string
  /** Time limit of a call with its retries, in ms. @default 30000 */
  timeout?: number
  /** Limit of retries after no answer, or one that asks for a retry (429, 503). @default 3 */
  retries?: number
  /** Replaces the global `fetch`, for example to use a Unix socket. It must not cache. */
  fetch?: typeof fetch
}

/** Tenant of the calls, and the headers that authenticate them. */
export interface Caller {
  tenantId: string
  /** Called for each call. */
  headers(): Record<string, string>
}

export type RouteName = keyof Api

export interface CallOptions {
  signal?: AbortSignal
  /** Makes this call and its retries one request. By default, each call gets a new key. */
  idempotencyKey?: string
}

/** Input of a route. */
export type Input<N extends RouteName> = Omit<Api[N], 'data' | 'page'>

export interface Sending extends CallOptions {
  /** Replaces the `timeout` of the connection. */
  timeout?: number
  /** Additional time that the service may hold the answer, in ms. */
  heldMs?: number
  /** Called with the headers of each response. */
  onHeaders?(headers: Headers): void
}

/** Input of a route that streams. */
interface Opening {
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
}

export interface Connection {
  /** Returns the answer of a route. @throws GateError, or the reason of `signal` */
  call<N extends RouteName>(name: N, input: Input<N>, options?: Sending): Promise<Answer<N>>
  /** Returns one response of any status as it comes, without retries. For streams. */
  open(name: RouteName, input: Opening, signal: AbortSignal): Promise<Response>
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2000

/** Calls the service with an API key. @throws TypeError for options that cannot be used */
export function connect({ tenantId, apiKey, ...options }: ConnectionOptions): Connection {
  if (!tenantId || !apiKey) throw new TypeError('tenantId and apiKey are required, and neither may be empty')
  return connectAs({ tenantId, headers: () => ({ 'x-api-key': apiKey, 'x-tenant-id': tenantId }) }, options)
}

/** Calls the service over HTTP, without state between calls. @throws TypeError for options that cannot be used */
export function connectAs({ tenantId, headers: named }: Caller, options: TransportOptions): Connection {
  const { timeout: usualMs = 30_000, retries = 3, fetch: send = fetch } = options
  assertMs('timeout', usualMs)
  if (usualMs <= 0) throw new TypeError('timeout must be above 0')
  if (!(retries >= 0)) throw new TypeError('retries must be a number, 0 or more')
  const base = addressIn(options.baseUrl ?? 'http://127.0.0.1:4283')
  // A redirect could lead to another gate, and a cached answer is not a decision.
  const always = { redirect: 'manual', cache: 'no-store' } as const

  return {
    async call(name, input, { signal, timeout = usualMs, heldMs = 0, idempotencyKey, onHeaders } = {}) {
      const { method, path, repeat, form }: Route = ROUTES[name]
      const { body }: Parts = input
      const limitMs = Math.min(Math.ceil(timeout + heldMs), MAX_MS)
      const endMs = performance.now() + limitMs
      const limit = AbortSignal.timeout(limitMs)
      const request: RequestInit = {
        method,
        headers: {
          ...named(),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(repeat === 'with_key' && { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() }),
        },
        ...(body !== undefined && { body: jsonOf({ tenantId, ...body }) }),
        ...always,
        signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
      }
      for (let repeated = 0; ; repeated += 1) {
        try {
          const response = await send(addressOf(base, path, input), request)
          onHeaders?.(response.headers)
          // One declaration of the route's answer generates both sides.
          return (await readAnswer(response, form)) as Answer<typeof name>
        } catch (cause) {
          signal?.throwIfAborted()
          const error = failureOf(cause, base, limit)
          if (repeated >= retries || repeat === 'never' || error.code === 'timeout' || !isPassing(error)) throw error
          const pauseMs = Math.max(error.retryAfterMs ?? 0, backoffMs(repeated))
          if (performance.now() + pauseMs >= endMs) throw error
          await pause(pauseMs, signal)
        }
      }
    },
    open(name, { headers, ...input }, signal) {
      const { method, path } = ROUTES[name]
      return send(addressOf(base, path, input), { method, headers: { ...named(), ...headers }, ...always, signal })
    },
  }
}

/** @throws TypeError for a text that is not an HTTP address; `localhost:4283` has the scheme `localhost` */
function addressIn(text: string): URL {
  const base = URL.canParse(text) ? new URL(text) : undefined
  if (base?.protocol === 'http:' || base?.protocol === 'https:') return base
  throw new TypeError(`baseUrl is ${JSON.stringify(text)}; write an address such as http://127.0.0.1:4283`)
}

interface Route {
  method: string
  path: string
  repeat: 'with_key' | 'as_is' | 'never'
  form: Form
}

interface Parts {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string | number | undefined>>
  body?: object
}

/** @throws GateError for a value without JSON, before anything is sent */
export function jsonOf(body: object): string {
  try {
    return JSON.stringify(body, asGiven)
  } catch (cause) {
    if (cause instanceof GateError) throw cause
    throw new GateError('invalid_request', 'The request cannot be written as JSON.', { cause })
  }
}

/** Replacer for `JSON.stringify`, which would write null for values without JSON, or omit them. */
function asGiven(this: unknown, name: string, value: unknown): unknown {
  const isLost = typeof value === 'number' ? !Number.isFinite(value) : ['function', 'symbol'].includes(typeof value)
  const given: unknown = Object(this)[name]
  if (!isLost && !(value === null && given instanceof Date)) return value
  throw new GateError('invalid_request', `The request cannot be written as JSON: ${name} is ${String(given)}.`)
}

function addressOf(base: URL, path: string, { params = {}, query = {} }: Parts): URL {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => segmentOf(name, params[name] ?? ''))
  const url = new URL(`.${filled}`, base.href.endsWith('/') ? base : `${base.href}/`)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
  return url
}

/** Encodes a parameter as one segment of a path. @throws GateError for one that would change the path */
function segmentOf(name: string, value: string): string {
  if (/^\.{0,2}$/.test(value)) throw new GateError('invalid_request', `${name} is needed.`)
  return encodeURIComponent(value)
}

function failureOf(cause: unknown, base: URL, limit: AbortSignal): GateError {
  if (cause instanceof GateError) return cause
  if (limit.aborted) return new GateError('timeout', `${base.origin} did not answer in time.`, { cause })
  return new GateError('unreachable', `${base.origin} cannot be reached: ${reasonOf(cause)}. Is the sidecar running?`, {
    cause,
  })
}

/** `fetch` has the reason only in the cause of its error. */
function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return inner instanceof Error ? inner.message : String(inner)
}

/**
 * Random pause between half of the backoff and all of it, so that clients that failed together do not retry together.
 */
function backoffMs(repeated: number): number {
  const most = Math.min(FIRST_PAUSE_MS * 2 ** repeated, LONGEST_PAUSE_MS)
  return most / 2 + (Math.random() * most) / 2
}
