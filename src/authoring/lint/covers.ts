import { type Glob, globContains } from '../../base/glob.ts'
import { grouped } from '../../base/grouped.ts'
import { ANYWHERE, startOf } from '../../policies/candidates.ts'
import type { Rule } from '../../policies/set.ts'
import type { Budget } from './budget.ts'

/** Most conditional rules of one effect that are compared for one pattern: the first. */
const MAX_CONDITIONAL = 8
/** Cost of comparing with a pattern, by whether the other is an action or a pattern itself. */
const COST = { exact: 1, pattern: 30 }

/**
 * Finds the rules that cover every action of a pattern, in declared order. Comparing costs: once the budget is spent,
 * only rules with the same pattern, or `**`, are found.
 */
export function coveringFinder(rules: readonly Rule[], budget: Budget): (glob: Glob) => readonly Rule[] {
  const order = new Map(rules.map((rule, i) => [rule, i]))
  const all = telling(rules)
  const byText = grouped(all, ({ glob }) => glob.text)
  const patterns = all.filter(({ glob }) => !glob.exact && glob.text !== '**')
  const byStart = grouped(patterns, ({ glob }) => startOf(glob))
  return (glob) => {
    const found = new Set([glob.text, '**'].flatMap((text) => byText.get(text) ?? []).map(({ rule }) => rule))
    const near = [glob.segments[0] ?? '', ANYWHERE].flatMap((start) => byStart.get(start) ?? [])
    if (budget.spend(near.length * (glob.exact ? COST.exact : COST.pattern))) {
      for (const { glob: outer, rule } of near) if (globContains(outer, glob)) found.add(rule)
    }
    return [...found].sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))
  }
}

/**
 * Rules worth comparing, among those with the same pattern and effect: the first without condition, which makes the
 * others redundant, and the first few with one.
 */
function telling(rules: readonly Rule[]): { glob: Glob; rule: Rule }[] {
  const counts = new Map<string, number>()
  return rules.flatMap((rule) => {
    const most = rule.condition === undefined ? 1 : MAX_CONDITIONAL
    return rule.actions.flatMap((glob) => {
      const key = `${rule.effect} ${rule.condition === undefined} ${glob.text}`
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return count > most ? [] : [{ glob, rule }]
    })
  })
}
