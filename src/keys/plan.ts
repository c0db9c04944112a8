/** Requests a minute that a tenant may make in each environment. */
export const PLANS = {
  free: 60,
  pro: 600,
  enterprise: Number.POSITIVE_INFINITY,
} as const

export type Plan = keyof typeof PLANS
export const DEFAULT_PLAN: Plan = 'enterprise'

/**
 * Approvals that one agent may have pending. People decide on them one by one: who has more waiting is out of hand, and
 * would bury what others ask.
 */
export const PENDING_LIMITS: Readonly<Record<Plan, number>> = { free: 20, pro: 100, enterprise: 200 }

/** Requests per minute and key for status reads and refused callers. */
export const STATUS_LIMIT = 600

/**
 * Sign-ins and sign-in links per minute and key: every session is an entry of the trail. A sign-in by link takes both.
 */
export const SIGN_IN_LIMIT = 30

export function isPlan(text: string): text is Plan {
  return Object.hasOwn(PLANS, text)
}

/** A token bucket: full at first, refilled evenly over the minute. */
export interface Bucket {
  tokens: number
  /** Time of a monotonic clock, in milliseconds. */
  atMs: number
}

export interface Taken {
  bucket: Bucket
  allowed: boolean
  /** Whole requests left. */
  remaining: number
  /** Seconds until there is a token again; 0 when there is one. */
  waitSeconds: number
}

/** Takes one token. A bucket is undefined before its first request. `limit` is finite, per minute. */
export function take(bucket: Bucket | undefined, limit: number, nowMs: number): Taken {
  const tokens = refilled(bucket, limit, nowMs)
  const allowed = tokens >= 1
  const left = allowed ? tokens - 1 : tokens
  const waitSeconds = left >= 1 ? 0 : Math.max(1, Math.ceil(((1 - left) * 60) / limit))
  return { bucket: { tokens: left, atMs: nowMs }, allowed, remaining: Math.floor(left), waitSeconds }
}

/** Whole requests left, without taking one. */
export function leftIn(bucket: Bucket | undefined, limit: number, nowMs: number): number {
  return Math.floor(refilled(bucket, limit, nowMs))
}

function refilled(bucket: Bucket | undefined, limit: number, nowMs: number): number {
  if (bucket === undefined) return limit
  return Math.min(limit, bucket.tokens + ((nowMs - bucket.atMs) * limit) / 60_000)
}
