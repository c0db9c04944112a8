import { type Glob, globContains } from '../../base/glob.ts'
import { applies } from '../../gate/decide.ts'
import {
  type Condition,
  enforcedRules,
  type Factor,
  type PolicyData,
  type Rule,
  type Truth,
} from '../../policies/set.ts'
import type { Names } from '../load/names.ts'
import { memberOf } from '../yaml/node.ts'
import type { Budget } from './budget.ts'
import { coveringFinder } from './covers.ts'
import { listText } from './describe.ts'
import type { Search } from './search.ts'
import { groupByFacts } from './truths.ts'

const STRENGTH = { deny: 2, require_approval: 1, allow: 0 } as const
const VERB = { deny: 'denies', require_approval: 'holds', allow: 'allows' } as const

/** Reason why a rule never decides about some actions. */
interface Cause {
  /** Rules that decide in its place, alone or together. */
  readonly rules: readonly Rule[]
  /** Factors that always add up to a denial. */
  readonly factors: readonly Factor[]
}

/** The rule's own condition is at fault. */
const OWN: Cause = { rules: [], factors: [] }
/** The threshold of denial is the lowest score, which every request reaches. */
const THRESHOLD: Cause = { rules: [], factors: [] }

interface ShadowInputs {
  readonly search: Search
  readonly coverBudget: Budget
  /** Rules that repeat others; they are left out. */
  readonly repeated: ReadonlySet<Rule>
  /** Rules whose conditions have been reported already. */
  readonly faulty: ReadonlySet<Rule>
  /** Rules that always apply, since an operator does not suit its fact: what they keep others from is the same fault. */
  readonly mistyped: ReadonlySet<Rule>
}

/** Reports rules that decide no request. */
export function reportShadowed(set: PolicyData, names: Names, inputs: ShadowInputs): void {
  const { search, coverBudget, repeated, faulty, mistyped } = inputs
  const order = new Map(set.rules.map((rule, i) => [rule, i]))
  const covering = coveringFinder(
    enforcedRules(set).filter((rule) => !mistyped.has(rule)),
    coverBudget,
  )
  const factorsAlways = set.factors.filter(({ condition, scale }) => condition === undefined && scale === undefined)
  for (const rule of set.rules) {
    if (repeated.has(rule)) continue
    const causes: Cause[] = []
    for (const glob of rule.actions) {
      const stronger = covering(glob).filter((other) => other !== rule && isStronger(other, rule, order))
      const cause = riskCause(rule, glob, factorsAlways, set) ?? causeOf(rule, glob, stronger, search)
      if (cause === undefined) break
      causes.push(cause)
    }
    const node = names.nodes.get(rule)
    if (causes.length < rule.actions.length || node === undefined) continue
    if (faulty.has(rule) && causes.every((cause) => cause === OWN)) continue
    names.report.add('GATE2006', memberOf(node, 'id') ?? node, sentence(causes, set))
  }
}

// Holds add up: a second one can still ask for more approvers, so it is not without effect.
function isStronger(other: Rule, rule: Rule, order: ReadonlyMap<Rule, number>): boolean {
  if (other.effect !== rule.effect) return STRENGTH[other.effect] > STRENGTH[rule.effect]
  return rule.effect !== 'require_approval' && (order.get(other) ?? 0) < (order.get(rule) ?? 0)
}

/** Causes by risk: a threshold of 0, or unconditional factors that reach the threshold of denial. Then only deny rules decide. */
function riskCause(rule: Rule, glob: Glob, always: readonly Factor[], { thresholds }: PolicyData): Cause | undefined {
  if (rule.effect === 'deny') return undefined
  if (thresholds.deny === 0) return THRESHOLD
  const factors = always.filter(({ actions }) => actions.some((outer) => globContains(outer, glob)))
  const tenths = factors.reduce((sum, { weight }) => sum + Math.round(weight * 10), 0)
  return factors.length > 0 && tenths >= thresholds.deny * 10 ? { rules: [], factors } : undefined
}

/** A condition and its outcome where its rule applies, or does not apply. */
interface Part {
  readonly rule: Rule
  readonly condition: Condition
  readonly holds: (truth: Truth) => boolean
}

/** Undefined unless it is certain that the rule never decides about these actions. */
function causeOf(rule: Rule, glob: Glob, stronger: readonly Rule[], search: Search): Cause | undefined {
  const always = stronger.find(({ condition }) => condition === undefined)
  if (always !== undefined) return { rules: [always], factors: [] }
  // Grouping costs too, and the budget may be spent.
  if (!search.mayGoOn(stronger.length)) return undefined
  const scope = [glob]
  const own = rule.condition && { rule, condition: rule.condition, holds: (truth: Truth) => applies(rule, truth) }
  if (own !== undefined && search.search([own], scope) === 'none') return OWN
  const others = stronger.flatMap((other): Part[] => {
    const { condition } = other
    return condition === undefined ? [] : [{ rule: other, condition, holds: (truth) => !applies(other, truth) }]
  })
  // Conditions about different facts do not affect each other.
  const groups = groupByFacts(own === undefined ? others : [own, ...others], ({ condition }) => condition, search)
  const isImpossible = (parts: readonly Part[]): boolean => parts.length > 0 && search.search(parts, scope) === 'none'
  for (const group of groups) {
    if ((group.length === 1 && group[0] === own) || !isImpossible(group)) continue
    const least = leastOf(group, own, isImpossible)
    return { rules: least.flatMap((part) => (part === own ? [] : [part.rule])), factors: [] }
  }
  return undefined
}

/** Removes every part that the rest can do without, but never the rule's own. */
function leastOf(
  parts: readonly Part[],
  own: Part | undefined,
  isImpossible: (some: readonly Part[]) => boolean,
): readonly Part[] {
  let least = parts
  for (const part of parts.toReversed()) {
    const rest = least.filter((other) => other !== part)
    if (part !== own && rest.length > 0 && isImpossible(rest)) least = rest
  }
  return least
}

function sentence(causes: readonly Cause[], { thresholds }: PolicyData): string {
  const begin = 'The rule can never decide:'
  if (causes.includes(THRESHOLD))
    return `${begin} thresholds.deny is 0, from which actions are denied; no score is lower.`
  const rules = [...new Set(causes.flatMap((cause) => cause.rules))]
  const factors = [...new Set(causes.flatMap((cause) => cause.factors))]
  if (factors.length > 0) {
    const these = listText(factors.map(({ name }) => name))
    const rest = rules.length > 0 ? `, or ${decide(rules)} first` : ''
    return `${begin} what the risk factors always add (${these}) reaches ${thresholds.deny}, from which actions are denied${rest}.`
  }
  const [first] = rules
  if (first === undefined) return `${begin} its condition never lets it apply. Correct the condition.`
  if (causes.some((cause) => cause === OWN))
    return `${begin} its condition never lets it apply, or ${decide(rules)} first.`
  if (rules.length === 1 && first.condition === undefined)
    return `${begin} rule ${first.id} always ${VERB[first.effect]} these actions.`
  if (rules.length === 1) return `${begin} whenever it would, rule ${first.id} ${VERB[first.effect]} first.`
  return `${begin} whenever it would, ${decide(rules)} first.`
}

function decide(rules: readonly Rule[]): string {
  const ids = listText(rules.map(({ id }) => id))
  return rules.length === 1 ? `rule ${ids} decides` : `rules ${ids} decide`
}
