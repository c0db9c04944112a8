import { canonicalJson } from '../../base/canonical.ts'
import { decimalOf, minus, ZERO } from '../../base/decimal.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { formatTimestamp } from '../../base/time.ts'
import { UNLIMITED } from '../../base/work.ts'
import { type History, overTimeReader, type Tally, tallyOf } from '../../gate/history.ts'
import { type Judgement, judge } from '../../gate/judge.ts'
import type { Decision, PolicySet } from '../../policies/set.ts'
import type { Situation } from './situation.ts'

/** Differences that a request can show, the weightiest first: what is decided, by whose approval, at what risk, and why. */
export const DIFFERENCES = ['decision', 'approval', 'risk', 'reason'] as const
export type Difference = (typeof DIFFERENCES)[number]

export interface Side {
  decision: Decision
  rule: string | null
  decidedBy: string
  reason: string
  riskScore: number
}

/** A request that the two sets decide differently, decided by both. */
export interface Witness {
  difference: Difference
  action: string
  context: JsonObject
  plan: JsonObject | null
  agent: string
  environment: 'live' | 'test'
  at: string
  /** Counts and sums as policies read them, with the action itself. */
  history: Record<string, Json>
  /** Actions taken in the session; null without one. */
  session: string[] | null
  from: Side
  to: Side
}

/** The old set, and the new one. */
export type Sets = readonly [PolicySet, PolicySet]

function judged(set: PolicySet, action: string, situation: Situation): Judgement {
  const { context, plan, agent, environment, nowMs } = situation
  const judgement = judge({
    ...{ set, action, context, plan, agent, environment, nowMs, tenant: set.tenant },
    ...{ killSwitchReason: undefined, history: historyOf(set, action, situation), isExplained: false },
  })
  if (judgement instanceof Promise) throw new TypeError('an evaluation without pauses is not a promise')
  return judgement
}

/** The earlier actions that give counts and sums their values. */
function historyOf(set: PolicySet, action: string, { context, plan, overTime, taken }: Situation): History {
  const tallies = new Map<string, Tally>()
  for (const [text, counter] of set.counters) {
    const value = overTime.get(text) ?? 0
    const own = tallyOf(set, counter, { action, context, plan })
    const before = minus(decimalOf(value), own.total)
    tallies.set(text, {
      count: Math.max(0, Math.round(value) - own.count),
      total: counter.sum === undefined || before.units < 0n ? ZERO : before,
      missing: 0,
    })
  }
  return { tallies, sessionActions: taken && new Set(taken) }
}

/** Counts and sums as the set reads them. */
function overTimeOf(set: PolicySet, action: string, situation: Situation): Record<string, Json> {
  const { context, plan } = situation
  const read = overTimeReader(set, { action, context, plan }, historyOf(set, action, situation))
  const counted = set.evaluator.about(action).overTime.filter(({ root }) => root === 'history')
  return Object.fromEntries(counted.map((path) => [path.text, read(path, UNLIMITED) ?? null]))
}

/** How much the sets restrain: holds and denials of both. */
export function restraint(sets: Sets, action: string, situation: Situation): number {
  const weight = { allow: 0, require_approval: 1, deny: 2 }
  return sets.reduce((sum, set) => sum + weight[judged(set, action, situation).outcome.decision], 0)
}

export function witnessIn(sets: Sets, action: string, situation: Situation): Witness | undefined {
  const [old, now] = sets.map((set) => judged(set, action, situation))
  if (old === undefined || now === undefined) return undefined
  const difference = differenceOf(old, now)
  if (difference === undefined) return undefined
  const { context, plan, agent, environment, nowMs, taken } = situation
  return {
    ...{ difference, action, context, plan: plan ?? null, agent, environment, at: formatTimestamp(nowMs) },
    history: Object.assign({}, ...sets.map((set) => overTimeOf(set, action, situation))),
    session: taken ?? null,
    ...{ from: sideOf(old), to: sideOf(now) },
  }
}

function differenceOf({ outcome: a, risk: x }: Judgement, { outcome: b, risk: y }: Judgement): Difference | undefined {
  if (a.decision !== b.decision) return 'decision'
  if (canonicalJson((a.hold ?? null) as never as Json) !== canonicalJson((b.hold ?? null) as never as Json))
    return 'approval'
  if (x.score !== y.score) return 'risk'
  return a.rule !== b.rule || a.reason !== b.reason || a.decidedBy !== b.decidedBy ? 'reason' : undefined
}

function sideOf({ outcome: { decision, rule, decidedBy, reason }, risk }: Judgement): Side {
  return { decision, rule, decidedBy, reason, riskScore: risk.score }
}
