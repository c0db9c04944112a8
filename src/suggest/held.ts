import { valueAt } from '../base/grouped.ts'
import type { Recorded } from '../replay/recorded.ts'
import { type Arguments, argumentsOf } from './arguments.ts'

/** Held requests that are kept in all, and groups of them. */
const MAX_HELD = 20_000
const MAX_GROUPS = 1000

/** The outcome of a request that was held. */
export interface HeldOutcome {
  /** `undecided` is pending, or without its record, or without a vote of anyone but the requester. */
  result: 'approved' | 'rejected' | 'expired' | 'cancelled' | 'undecided'
  /** Principals who voted for it, without the requester. */
  approvers: readonly string[]
}

/** True if people, a deadline or a stop kept the action from running. */
export function isRefusal({ result }: HeldOutcome): boolean {
  return result !== 'approved' && result !== 'undecided'
}

/** A request that was held. */
export interface Held extends Pick<Recorded, 'id' | 'tsMs' | 'agent' | 'session'>, HeldOutcome {
  args: Arguments
}

/** Held requests about one action, by the same rules. */
export interface HeldGroup {
  action: string
  /** Rules that held them; none where no rule decided. */
  rules: readonly string[]
  held: Held[]
  /** Requests that were erased. */
  unknown: number
  /** Requests with too many arguments, or beyond what is kept: nothing is said about the action then. */
  beyond: number
}

/** Groups held requests, in memory that is bounded. */
export function heldGroups() {
  const groups = new Map<string, HeldGroup>()
  const erased = new Map<string, number>()
  let [kept, lost] = [0, 0]
  const keyOf = (action: string, rules: readonly string[]): string => JSON.stringify([action, ...rules])
  const groupOf = (action: string, rules: readonly string[]): HeldGroup | undefined => {
    const key = keyOf(action, rules)
    if (!groups.has(key) && groups.size >= MAX_GROUPS) return undefined
    return valueAt(groups, key, () => ({ action, rules, held: [], unknown: 0, beyond: 0 }))
  }
  return {
    add({ id, tsMs, agent, session, action, asked }: Recorded, rules: readonly string[], outcome: HeldOutcome): void {
      const group = groupOf(action, rules)
      const args = asked && argumentsOf(asked)
      if (group === undefined) lost += 1
      else if (args === undefined || kept >= MAX_HELD) group.beyond += 1
      else {
        kept += 1
        group.held.push({ id, tsMs, agent, session, args, ...outcome })
      }
    },
    /** Counts an erased request, of which only the rule that decided is left. */
    addErased({ action, outcome }: Recorded): void {
      const key = keyOf(action, outcome?.rule == null ? [] : [outcome.rule])
      if (erased.has(key) || erased.size < MAX_GROUPS) erased.set(key, (erased.get(key) ?? 0) + 1)
    },
    result: (): HeldGroup[] =>
      Array.from(groups.values(), (group) => {
        const rules = group.rules.length === 0 ? [[]] : group.rules.map((rule) => [rule])
        return {
          ...group,
          beyond: group.beyond + lost,
          unknown: rules.reduce((sum, one) => sum + (erased.get(keyOf(group.action, one)) ?? 0), 0),
        }
      }),
  }
}
