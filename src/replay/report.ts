import { valueAt } from '../base/grouped.ts'
import { formatTimestamp } from '../base/time.ts'
import type { DecidedBy } from '../gate/decide.ts'
import type { Explanation } from '../gate/explain.ts'
import { shortText } from '../gate/shown.ts'
import type { Decision } from '../policies/set.ts'
import type { Replayed, UnknownReason } from './decide.ts'
import type { Outcome, PriorOutcome, Recorded } from './recorded.ts'
import { missingFacts, type Shifts, scoreShifts } from './shifts.ts'

/** Limits of a report: kinds of change, changed decisions, and characters of their explanations. */
const MAX_KINDS = 1000
const MAX_CHANGES = 1000
const MAX_EXPLAINED = 2_000_000

/** The decision that was recorded; `none` where only the request was. */
export type From = Decision | 'none'

/** One side of a comparison; what is not the decision is null where none was recorded. */
export interface Side {
  decision: From
  decidedBy: DecidedBy | null
  rule: string | null
  reason: string | null
  riskScore: number | null
}

/** A request that the draft decides otherwise. */
export interface Change {
  id: string
  timestamp: string
  action: string
  agent: string
  from: Side
  to: Side
  /** The session may have begun before what was read. */
  assumed: boolean
  /** By the policies that decided; null where they are not kept, or beyond a limit, as for most changes. */
  before: Explanation | null
  /** By the draft; null beyond a limit. */
  after: Explanation | null
}

/** Decisions that changed in the same way, of which `first` is the oldest. */
export interface Kind {
  from: Pick<Side, 'decision' | 'decidedBy' | 'rule'>
  to: Pick<Side, 'decision' | 'decidedBy' | 'rule'>
  count: number
  first: Change
}

/** Result of a replay. */
export interface ReplayReport extends Shifts {
  /** Requests that were decided again. */
  decided: number
  /** Decisions of stops, which no policy changes. */
  stopped: number
  unknown: Record<UnknownReason, number>
  /** Decided ones whose session may have begun before what was read. */
  assumed: number
  /** Requests by decision then and decision of the draft, without empty cells. */
  matrix: { from: From; to: Decision; count: number }[]
  /** Other decisions first, then other grounds, each by number. */
  kinds: Kind[]
  /** Changes of kinds beyond the limit. */
  kindsLeftOut: number
  /** Decisions by deciding rule, then and by the draft. */
  rules: { rule: string; before: number; after: number }[]
  /** Oldest first. */
  changes: Change[]
  /** Changed decisions beyond the limit. */
  changesLeftOut: number
}

/** A request that was decided again. */
type Decided = Replayed & { result: 'decided' }

/** Sums up decisions as they are made again. */
export function reporter() {
  const counts = { decided: 0, stopped: 0, assumed: 0 }
  const unknown: ReplayReport['unknown'] = { erased: 0, pruned: 0 }
  const matrix = new Map<string, ReplayReport['matrix'][number]>()
  const rules = new Map<string, ReplayReport['rules'][number]>()
  const shifts = scoreShifts()
  const missing = missingFacts()
  const changes = changeList()
  return {
    async add(recorded: Recorded, replayed: Replayed): Promise<void> {
      if (replayed.result === 'stopped') counts.stopped += 1
      if (replayed.result === 'unknown') unknown[replayed.why] += 1
      if (replayed.result !== 'decided') return
      counts.decided += 1
      counts.assumed += replayed.isAssumed ? 1 : 0
      const { outcome: then } = recorded
      const { outcome: now } = replayed
      const [from, to] = [then?.decision ?? 'none', now.decision]
      valueAt(matrix, `${from} ${to}`, () => ({ from, to, count: 0 })).count += 1
      if (then?.rule != null) countsOf(rules, then.rule).before += 1
      if (now.rule !== null) countsOf(rules, now.rule).after += 1
      if (then !== undefined) shifts.add(then, now)
      missing.add(recorded.id, then, now)
      if (from !== to || hasOtherGrounds(then, now)) await changes.add(recorded, replayed)
    },
    report: (): ReplayReport => ({
      ...counts,
      unknown,
      matrix: [...matrix.values()].sort((a, b) => (`${a.from} ${a.to}` < `${b.from} ${b.to}` ? -1 : 1)),
      rules: [...rules.values()].sort((a, b) => (a.rule < b.rule ? -1 : 1)),
      ...shifts.report(),
      unevaluable: missing.report(),
      ...changes.report(),
    }),
  }
}

function hasOtherGrounds(then: PriorOutcome | undefined, { rule, decidedBy }: Outcome): boolean {
  return then !== undefined && then.decidedBy !== null && (then.rule !== rule || then.decidedBy !== decidedBy)
}

function countsOf(rules: Map<string, ReplayReport['rules'][number]>, rule: string): ReplayReport['rules'][number] {
  return valueAt(rules, rule, () => ({ rule, before: 0, after: 0 }))
}

/** Lists changed decisions, and counts them by kind. */
function changeList() {
  const kinds = new Map<string, Kind>()
  const changes: Change[] = []
  const leftOut = { kindsLeftOut: 0, changesLeftOut: 0 }
  const explained = explanations()
  return {
    /** Adds a request that the draft decides otherwise, or for other reasons. */
    async add(recorded: Recorded, replayed: Decided): Promise<void> {
      const change = changeOf(recorded, replayed)
      const [from, to] = [groundsOf(change.from), groundsOf(change.to)]
      const name = JSON.stringify([...Object.values(from), ...Object.values(to)])
      const kind = kinds.get(name)
      const isListed = from.decision !== to.decision && changes.length < MAX_CHANGES
      const isFirst = kind === undefined && kinds.size < MAX_KINDS
      const whole = isListed || isFirst ? { ...change, after: await explained(replayed) } : undefined
      if (whole !== undefined && isListed) changes.push(whole)
      else if (from.decision !== to.decision) leftOut.changesLeftOut += 1
      if (kind !== undefined) kind.count += 1
      else if (whole !== undefined && isFirst) kinds.set(name, { from, to, count: 1, first: whole })
      else leftOut.kindsLeftOut += 1
    },
    report: () => ({
      kinds: [...kinds.values()].sort((a, b) => Number(isOfReason(a)) - Number(isOfReason(b)) || b.count - a.count),
      changes,
      ...leftOut,
    }),
  }
}

/** True where the decision is the same for another reason. */
function isOfReason({ from, to }: Kind): boolean {
  return from.decision === to.decision
}

function groundsOf({ decision, decidedBy, rule }: Side): Kind['from'] {
  return { decision, decidedBy, rule }
}

function changeOf(
  { id, tsMs, action, agent, outcome: then }: Recorded,
  { outcome, isAssumed: assumed }: Decided,
): Omit<Change, 'after'> {
  const to = sideOf(outcome)
  const from = then === undefined ? NOT_DECIDED : sideOf(then)
  return { id, timestamp: formatTimestamp(tsMs), action, agent, from, to, assumed, before: null }
}

const NOT_DECIDED: Side = { decision: 'none', decidedBy: null, rule: null, reason: null, riskScore: null }

function sideOf({ decision, decidedBy, rule, reason, riskScore }: PriorOutcome): Side {
  return { decision, decidedBy, rule, reason: shortText(reason), riskScore }
}

/** Explains while the explanations stay below their limit. */
function explanations(): (replayed: Decided) => Promise<Explanation | null> {
  let left = MAX_EXPLAINED
  return async ({ explain }) => {
    if (left <= 0) return null
    const explanation = await explain()
    left -= JSON.stringify(explanation).length
    return explanation
  }
}
