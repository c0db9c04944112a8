import type { Caller } from '../actions/deps.ts'
import { counted } from '../base/counted.ts'
import { GateError } from '../base/errors.ts'
import { type Bucket, DEFAULT_PLAN, leftIn, PLANS, type Plan, SIGN_IN_LIMIT, STATUS_LIMIT, take } from '../keys/plan.ts'
import type { RouteRule } from '../keys/routes.ts'
import type { State } from '../store/store.ts'

/** Headers about a caller's limits (draft-ietf-httpapi-ratelimit-headers). */
export type LimitHeaders = Record<string, string>

const NONE: LimitHeaders = {}

const ofTenant = ({ chain }: Caller): string => `tenant ${chain}`

/**
 * Token buckets of this process, by tenant and environment, or by key.
 *
 * @param sharers number of sidecars that serve a tenant, each of which allows an equal share of its plan
 */
export function rateLimiter(clock: () => number, sharers: (tenantId: string) => number) {
  const buckets = new Map<string, Bucket>()
  // A share below one a minute would never allow anything.
  const shareOf = (plan: Plan, n: number): number => Math.max(1, Math.floor(PLANS[plan] / n))

  const draw = (name: string, bucketId: string, limit: number, of = ''): LimitHeaders => {
    const { bucket, allowed, remaining, waitSeconds } = take(buckets.get(bucketId), limit, clock())
    buckets.set(bucketId, bucket)
    const headers = {
      'RateLimit-Policy': `"${name}";q=${limit};w=60`,
      RateLimit: `"${name}";r=${remaining};t=${waitSeconds}`,
    }
    if (allowed) return headers
    const message = `The limit of ${counted(limit, 'request')} a minute${of} is used up; try again in ${waitSeconds} s.`
    throw new GateError('rate_limited', message, { headers: { ...headers, 'Retry-After': String(waitSeconds) } })
  }

  return {
    /** @throws GateError `rate_limited` */
    admit(state: State, caller: Caller, route: RouteRule): LimitHeaders {
      if (route.limit === 'exempt') return NONE
      if (route.limit === 'status') return draw('status', `key ${caller.key.id}`, STATUS_LIMIT)
      if (route.limit === 'sign-in') return draw('sign-in', `sign-in ${caller.key.id}`, SIGN_IN_LIMIT)
      const plan = state.tenants.get(caller.tenantId)?.plan
      if (plan === undefined || !Number.isFinite(PLANS[plan])) return NONE
      const n = sharers(caller.tenantId)
      return draw(plan, ofTenant(caller), shareOf(plan, n), n > 1 ? ` at this sidecar, one of ${n},` : '')
    },
    /** Requests that the plan leaves the caller's tenant and environment now; null for any number. Counts none. */
    left(state: State, caller: Caller): number | null {
      const { tenantId } = caller
      const limit = shareOf(state.tenants.get(tenantId)?.plan ?? DEFAULT_PLAN, sharers(tenantId))
      return Number.isFinite(limit) ? leftIn(buckets.get(ofTenant(caller)), limit, clock()) : null
    },
    /** Counts a refused request, so that guessing uses up the limit. @throws GateError `rate_limited` */
    refused(keyId: string | undefined): void {
      draw('refused', `refused ${keyId ?? 'unknown'}`, STATUS_LIMIT)
    },
  }
}

export type RateLimiter = ReturnType<typeof rateLimiter>
