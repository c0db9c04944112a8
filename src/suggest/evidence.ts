import { type Glob, matchesAny } from '../base/glob.ts'
import { valueAt } from '../base/grouped.ts'
import { UNLIMITED } from '../base/work.ts'
import { requestFact } from '../gate/facts.ts'
import type { PolicySet } from '../policies/set.ts'
import type { Replayed, UnknownReason } from '../replay/decide.ts'
import type { Recorded } from '../replay/recorded.ts'
import { argumentsOf } from './arguments.ts'
import { type HeldGroup, type HeldOutcome, heldGroups, isRefusal } from './held.ts'
import { type NumberLimit, numberLimits } from './number-limits.ts'
import { type Quantiles, quantiles } from './quantiles.ts'
import { type Support, type Tally, tally } from './tally.ts'

/** Different actions that are kept, and arguments of one. */
const MAX_ACTIONS = 5000
const MAX_PATHS = 256
/** Group of the requests about an action that were refused. No rule has this name. */
const REFUSED = ['']

/** Values of a number with a limit, in requests that a rule allowed. */
export interface Observed {
  limit: NumberLimit
  values: Quantiles
}

/** The part of a trail that proposals rest on. */
export interface Evidence {
  counts: {
    read: number
    stopped: number
    unknown: Record<UnknownReason, number>
    /** Requests that the policies decide otherwise than then, which say nothing about their rules. */
    otherwise: number
  }
  /** Actions that were asked for, whatever was decided. */
  asked: ReadonlyMap<string, Support>
  /** False where there were more actions than are kept. */
  isWhole: boolean
  /** Allowed requests by the rule that allowed them. */
  allowed: ReadonlyMap<string, Support>
  observed: readonly Observed[]
  held: readonly HeldGroup[]
  /** Paths of the arguments that requests had, by action; undefined for an action with too many. */
  seen: ReadonlyMap<string, ReadonlySet<string> | undefined>
}

/** Sums up decisions of a trail that the policies have decided again. */
export function evidenceOf(set: PolicySet) {
  const counts: Evidence['counts'] = { read: 0, stopped: 0, unknown: { erased: 0, pruned: 0 }, otherwise: 0 }
  const asked = new Map<string, Tally>()
  const allowed = new Map<string, Tally>()
  const held = heldGroups()
  const numbers = numberLimits(set).map((limit) => ({ limit, seen: quantiles() }))
  const seen = new Map<string, Set<string> | undefined>()
  let isWhole = true
  const noteArguments = ({ action, asked }: Recorded): void => {
    if (asked === undefined || (!seen.has(action) && seen.size >= MAX_ACTIONS)) return
    const paths = seen.has(action) ? seen.get(action) : new Set<string>()
    const args = argumentsOf(asked)
    for (const path of args?.keys() ?? []) paths?.add(path)
    seen.set(action, args === undefined || (paths?.size ?? 0) > MAX_PATHS ? undefined : paths)
  }
  const noteAction = (recorded: Recorded): void => {
    if (!asked.has(recorded.action) && asked.size >= MAX_ACTIONS) isWhole = false
    else valueAt(asked, recorded.action, tally).add(recorded)
  }
  const noteAllowed = (recorded: Recorded, rule: string): void => {
    valueAt(allowed, rule, tally).add(recorded)
    for (const { limit, seen } of numbers) {
      const value = limit.rule === rule ? requestFact(recorded.asked ?? {}, limit.fact, UNLIMITED) : undefined
      if (typeof value === 'number') seen.add(value)
    }
  }
  return {
    /** @param outcome of the approval, if the request was held and asked for one */
    async add(recorded: Recorded, replayed: Replayed, outcome: HeldOutcome | undefined): Promise<void> {
      counts.read += 1
      noteAction(recorded)
      noteArguments(recorded)
      if (replayed.result === 'stopped') counts.stopped += 1
      if (replayed.result === 'unknown') {
        counts.unknown[replayed.why] += 1
        if (outcome !== undefined && replayed.why === 'erased') held.addErased(recorded)
      }
      const isRefused = outcome !== undefined && isRefusal(outcome) && recorded.asked !== undefined
      // A refusal counts whatever held the request then, and whatever is known of it now.
      if (isRefused) held.add(recorded, REFUSED, outcome)
      if (replayed.result !== 'decided' || isRefused) return
      const { decision, decidedBy, rule } = replayed.outcome
      const then = recorded.outcome
      const isSame = then?.decision === decision && then.rule === rule && then.decidedBy === decidedBy
      if (!isSame) counts.otherwise += 1
      if (isSame && decidedBy === 'allow_rule' && rule !== null) noteAllowed(recorded, rule)
      if (outcome !== undefined && isSame && decision === 'require_approval' && decidedBy !== 'risk')
        held.add(recorded, await holdingRules(replayed), outcome)
    },
    evidence: (): Evidence => ({
      ...{ counts, isWhole, held: held.result(), seen },
      asked: supports(asked),
      allowed: supports(allowed),
      observed: numbers.flatMap(({ limit, seen }) => {
        const values = seen.result()
        return values === undefined ? [] : [{ limit, values }]
      }),
    }),
  }
}

/** All rules that hold it, not only the first, which decides. */
async function holdingRules(replayed: Replayed & { result: 'decided' }): Promise<string[]> {
  const { rules } = await replayed.explain()
  return rules.flatMap(({ id, effect, matches }) => (effect === 'require_approval' && matches ? [id] : [])).sort()
}

function supports(tallies: ReadonlyMap<string, Tally>): Map<string, Support> {
  return new Map(Array.from(tallies, ([name, one]) => [name, one.support()]))
}

/** The actions that were asked for, and that a pattern matches, in order. */
export function askedFor({ asked }: Pick<Evidence, 'asked'>, pattern: Glob): string[] {
  return [...asked.keys()].filter((action) => matchesAny([pattern], action)).sort()
}
