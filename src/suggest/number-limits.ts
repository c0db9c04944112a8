import { globsIntersect } from '../base/glob.ts'
import { type FactPath, isPlural } from '../policies/path.ts'
import { type Condition, enforcedRules, type Leaf, type PolicySet, type Rule } from '../policies/set.ts'

/** The least limit that the policies set to a number in requests that a rule allows. */
export interface NumberLimit {
  /** The rule that allows. */
  rule: string
  fact: FactPath
  limit: number
  /** The rule that has the limit: the same, or one that holds or denies above it. */
  by: string
}

/** Operators that are true of no number above their constant, and of none below it. */
const AT_MOST = ['lessThan', 'lessThanInclusive']
const ABOVE = ['greaterThan', 'greaterThanInclusive']

/** Limits of numbers in the requests that allow rules allow: each rule's own, and those above which other rules restrain. */
export function numberLimits(set: PolicySet): NumberLimit[] {
  const rules = enforcedRules(set)
  return rules
    .filter(({ effect }) => effect === 'allow')
    .flatMap((rule) => {
      const least = new Map<string, NumberLimit>()
      const add = ({ fact, wanted }: Leaf, by: string): void => {
        const known = least.get(fact.text)
        if (typeof wanted === 'number' && (known === undefined || wanted < known.limit))
          least.set(fact.text, { rule: rule.id, fact, limit: wanted, by })
      }
      for (const leaf of required(set, rule.condition)) if (AT_MOST.includes(leaf.operator)) add(leaf, rule.id)
      for (const other of rules)
        if (other.effect !== 'allow' && meets(other, rule))
          for (const leaf of sufficient(set, other.condition)) if (ABOVE.includes(leaf.operator)) add(leaf, other.id)
      return [...least.values()]
    })
}

function meets(a: Rule, b: Rule): boolean {
  return a.actions.some((one) => b.actions.some((other) => globsIntersect(one, other)))
}

/** Comparisons of the request without which the condition is not true. */
function required(set: PolicySet, condition: Condition | undefined): Leaf[] {
  if (condition?.kind === 'leaf') return isOfRequest(condition) ? [condition] : []
  if (condition?.kind === 'all') return condition.conditions.flatMap((one) => required(set, one))
  return condition?.kind === 'condition' ? required(set, set.conditions.get(condition.name)) : []
}

/** Comparisons of the request each of which makes the condition true, if the fact is there. */
function sufficient(set: PolicySet, condition: Condition | undefined): Leaf[] {
  if (condition?.kind === 'leaf') return isOfRequest(condition) ? [condition] : []
  if (condition?.kind === 'any') return condition.conditions.flatMap((one) => sufficient(set, one))
  if (condition?.kind === 'condition') return sufficient(set, set.conditions.get(condition.name))
  if (condition?.kind !== 'all') return []
  const others = condition.conditions.filter((one) => one.kind !== 'leaf' || one.operator !== 'exists')
  return others.length === 1 ? sufficient(set, others[0]) : []
}

function isOfRequest({ fact }: Leaf): boolean {
  return (fact.root === 'context' || fact.root === 'plan') && !isPlural(fact)
}
