import { deadlineMs, statusAt } from '../../approvals/approval.ts'
import { readHeader } from '../../audit/entry.ts'
import { percentile } from '../../base/percentile.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { Decision } from '../../policies/set.ts'
import { changedByTime, openStandings } from '../approvals/open-approvals.ts'
import type { TrailDeps } from '../audit/trail-state.ts'
import type { Caller, Deps } from '../deps.ts'
import { killSwitchStatus } from '../killswitch/killswitch.ts'
import type { PolicyRegistry } from '../policies/registry.ts'
import { FAIL_MODES } from './fail-modes.ts'
import { fleetOf } from './fleet.ts'
import type { Latency } from './latency.ts'
import type { End, Ended, Recent, RecentReader } from './recent.ts'

export interface OverviewDeps extends Deps, TrailDeps {
  policies: Pick<PolicyRegistry, 'describe'>
  recent: RecentReader
  latency: Latency
}

const MINUTE_MS = 60_000
/** Bucket sizes in minutes; each divides the larger ones that matter, so that days begin with a bucket. */
const BUCKET_MINUTES = [1, 2, 5, 10, 15, 30, 60, 120] as const
const MAX_BUCKETS = 96
/** Limit of the listed sources of denials. */
export const MAX_DENIALS = 10

/** The first view for people: the caller's tenant and environment, now and in the last hours. */
export async function overview(
  deps: OverviewDeps,
  caller: Caller,
  { hours, version }: { hours: number; version: string },
) {
  const nowMs = deps.clock()
  const window = windowOf(nowMs, hours)
  const recent = await deps.recent(caller.chain, nowMs)
  return {
    from: formatTimestamp(window.fromMs),
    to: formatTimestamp(window.toMs),
    bucketMs: window.bucketMs,
    completeFrom: formatTimestamp(Math.max(window.fromMs, Math.min(recent.completeMs, nowMs))),
    decisions: decisionsIn(recent, window),
    observed: observedCount(recent, window),
    ...denialsIn(recent, window),
    approvals: { ...(await pendingNow(deps, caller.chain, nowMs)), ...endedIn(recent.ended, window) },
    latency: deps.latency.newest(),
    audit: await auditOf(deps, caller.chain),
    posture: { ...postureOf(deps, caller), version },
    fleet: await fleetOf(deps, caller),
  }
}

interface Window {
  fromMs: number
  /** End of the newest bucket, which is still filling. */
  toMs: number
  bucketMs: number
}

/** The window; buckets begin at whole multiples of their length, so that every request has the same ones. */
function windowOf(nowMs: number, hours: number): Window {
  const minutes = BUCKET_MINUTES.find((length) => (hours * 60) / length <= MAX_BUCKETS) ?? BUCKET_MINUTES[7]
  const bucketMs = minutes * MINUTE_MS
  const toMs = (Math.floor(nowMs / bucketMs) + 1) * bucketMs
  return { fromMs: toMs - Math.ceil((hours * 60) / minutes) * bucketMs, toMs, bucketMs }
}

function isIn({ fromMs, toMs }: Window, atMs: number): boolean {
  return fromMs <= atMs && atMs < toMs
}

const MEMBERS = { allow: 'allow', deny: 'deny', require_approval: 'requireApproval' } as const satisfies Record<
  Decision,
  string
>

/** Grounds of an allow that is enforced. */
const ALLOWING = ['allow_rule', 'approval']

/** Calls `visit` with each decision: its time, and its kind as an index. */
function eachDecision({ chains }: Recent, visit: (atMs: number, place: number) => void): void {
  for (const { times, places } of chains) for (const [i, atMs] of times.entries()) visit(atMs, places[i] ?? 0)
}

function decisionsIn(recent: Recent, window: Window) {
  const { fromMs, toMs, bucketMs } = window
  const buckets = Array.from({ length: (toMs - fromMs) / bucketMs }, (_, i) => ({
    at: formatTimestamp(fromMs + i * bucketMs),
    allow: 0,
    deny: 0,
    requireApproval: 0,
  }))
  eachDecision(recent, (atMs, place) => {
    const bucket = buckets[Math.floor((atMs - fromMs) / bucketMs)]
    const kind = recent.kinds[place]
    if (bucket !== undefined && kind !== undefined) bucket[MEMBERS[kind.decision]] += 1
  })
  return buckets
}

/** The number of actions that were allowed only since policies were observed: no rule and no approval allowed them. */
function observedCount(recent: Recent, window: Window): number {
  const isObserved = recent.kinds.map(
    ({ decision, decidedBy }) => decision === 'allow' && !ALLOWING.includes(decidedBy),
  )
  let count = 0
  eachDecision(recent, (atMs, place) => {
    if (isIn(window, atMs) && isObserved[place]) count += 1
  })
  return count
}

/** The most frequent sources of denials. */
function denialsIn(recent: Recent, window: Window) {
  const { kinds } = recent
  const counts = kinds.map(() => 0)
  eachDecision(recent, (atMs, place) => {
    if (isIn(window, atMs)) counts[place] = (counts[place] ?? 0) + 1
  })
  const denials = kinds
    .map(({ decision, rule, decidedBy }, place) => ({ decision, rule, decidedBy, count: counts[place] ?? 0 }))
    .filter(({ decision, count }) => decision === 'deny' && count > 0)
    .map(({ decision: _, ...denial }) => denial)
    .sort((a, b) => b.count - a.count || a.decidedBy.localeCompare(b.decidedBy) || orderOf(a.rule, b.rule))
  return { denials: denials.slice(0, MAX_DENIALS), denialsLeftOut: Math.max(0, denials.length - MAX_DENIALS) }
}

function orderOf(a: string | null, b: string | null): number {
  return (a ?? '') < (b ?? '') ? -1 : 1
}

async function pendingNow(deps: Deps, chain: string, nowMs: number) {
  const { store } = deps
  const actual = await changedByTime(deps, chain, 'pending', nowMs)
  const first = { chain, statuses: ['pending' as const], actual, order: 'age' as const, limit: 1, offset: 0 }
  const { items, total } = await store.approvals(first)
  const nextMs = await nextDeadlineMs(deps, chain, nowMs)
  return {
    pending: total,
    oldestPendingAt: items[0]?.createdAt ?? null,
    nextDeadlineAt: nextMs === undefined ? null : formatTimestamp(nextMs),
  }
}

/**
 * The next deadline. Stops only move deadlines later, so approvals with a stored one beyond a moved one need no
 * reading.
 */
async function nextDeadlineMs({ store }: Deps, chain: string, nowMs: number): Promise<number | undefined> {
  const { switches } = store.state()
  let nextMs: number | undefined
  for await (const batch of openStandings(store, { chain, statuses: ['pending'] })) {
    for (const approval of batch) {
      if (nextMs !== undefined && Date.parse(approval.expiresAt) >= nextMs) return nextMs
      if (statusAt(approval, switches, nowMs) !== 'pending') continue
      nextMs = Math.min(nextMs ?? Number.POSITIVE_INFINITY, deadlineMs(approval, switches, nowMs))
    }
  }
  return nextMs
}

function endedIn(all: readonly Ended[], window: Window) {
  const ended = all.filter(({ atMs }) => isIn(window, atMs))
  const count = (wanted: End): number => ended.filter(({ end }) => end === wanted).length
  const byPeople = ended.filter(({ end }) => end === 'approved' || end === 'rejected')
  const waits = byPeople.flatMap(({ waitedMs }) => waitedMs ?? []).sort((a, b) => a - b)
  const [p50, p90, max] = [percentile(waits, 50), percentile(waits, 90), waits.at(-1)]
  return {
    decided: {
      approved: count('approved'),
      rejected: count('rejected'),
      expired: count('expired'),
      cancelled: count('cancelled'),
    },
    waitMs: p50 === undefined || p90 === undefined || max === undefined ? null : { p50, p90, max },
  }
}

async function auditOf({ store, anchors, verification }: OverviewDeps, trail: string) {
  const lengths = [...(await store.lengths(await store.lanes(trail)))]
  const newest = await Promise.all(lengths.map(([chain, length]) => store.headersFrom(chain, length - 1, 1)))
  const times = newest.flatMap(([text = '']) => readHeader(text)?.ts ?? []).sort()
  const { unanchoredEntries, sinks } = await anchors.status()
  return {
    entries: lengths.reduce((sum, [, length]) => sum + length, 0),
    newestAt: times.at(-1) ?? null,
    lastVerified: verification.last(),
    unanchoredEntries,
    sinks: sinks.map(({ sink, ok, lastAt }) => ({ sink, ok, lastAt })),
    fault: anchors.fault(),
  }
}

/** The enforcement that is in force now. */
function postureOf(deps: OverviewDeps, caller: Caller) {
  const { digest, mode, loadedAt, current, faults, watching } = deps.policies.describe(caller)
  const { active, level, scope } = killSwitchStatus(deps, caller.chain)
  return {
    policies: { inForce: digest !== null, digest, mode, loadedAt, current, faults: faults.length },
    killSwitch: { active, level, scope },
    environment: caller.environment,
    watching,
    failModes: FAIL_MODES,
  }
}
