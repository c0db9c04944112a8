import type { Json, JsonObject } from '../base/json.ts'
import { combine } from './kleene.ts'
import type { FactPath } from './path.ts'
import type { Candidate, Factor, FactValues, Leaf, PolicySet, PreparedCondition, Rule, Truth } from './set.ts'

export type { Truth } from './set.ts'

/** Reads one fact of a request. Undefined when it is missing; null is no value either. */
export type ReadFact = (path: FactPath) => Json | undefined

/** One comparison as it came out. */
export interface LeafResult {
  fact: string
  operator: string
  wanted: Json
  /** Undefined when the fact is missing. */
  seen: Json | undefined
  outcome: Truth
  file: string
  line: number
}

export interface RuleResult {
  rule: Rule
  outcome: Truth
  /** The facts for which an unknown outcome is unknown: missing, or of the wrong type. Else empty. */
  missing: readonly string[]
  leaves: readonly LeafResult[]
}

export interface FactorResult {
  factor: Factor
  outcome: Truth
  /** The share of the weight that counts, 0 to 1; 1 when the factor cannot be evaluated. */
  fraction: number
  missing: readonly string[]
  leaves: readonly LeafResult[]
}

/** What the rules and factors about an action say: those only, in declared order. */
export interface Evaluation {
  rules: readonly RuleResult[]
  factors: readonly FactorResult[]
}

interface Outcome {
  outcome: Truth
  missing: readonly string[]
  leaves: readonly LeafResult[]
}

/** Evaluates what the set says about `action`. Evaluations may overlap; they share nothing that changes. */
export async function evaluate(set: PolicySet, action: string, readFact: ReadFact): Promise<Evaluation> {
  const { evaluator } = set
  const rules = evaluator.rulesOf(action)
  const factors = evaluator.factorsOf(action)
  const read = readerWithDefaults(set, readFact)
  const prepared = [...rules.map((i) => evaluator.rules[i]), ...factors.map((i) => evaluator.factors[i])]
  const facts = evaluator.begin(readFacts(prepared, read))
  const [ruleResults, factorResults] = await Promise.all([
    Promise.all(rules.map((i) => ruleResult(set, i, facts))),
    Promise.all(factors.map((i) => factorResult(set, i, facts, read))),
  ])
  return {
    rules: ruleResults.filter((result) => result !== undefined),
    factors: factorResults.filter((result) => result !== undefined),
  }
}

/** Reads each fact once at most, with the declared default where there is no value. */
function readerWithDefaults(set: PolicySet, readFact: ReadFact): ReadFact {
  return (path) => {
    const value = readFact(path)
    return value === undefined || value === null ? set.facts.get(path.text)?.default : value
  }
}

function readFacts(conditions: readonly (PreparedCondition | undefined)[], read: ReadFact): Map<string, Json> {
  const values = new Map<string, Json>()
  const asked = new Set<string>()
  for (const condition of conditions) {
    for (const path of condition?.facts ?? []) {
      if (asked.has(path.text)) continue
      asked.add(path.text)
      const value = read(path)
      if (value !== undefined) values.set(path.text, value)
    }
  }
  return values
}

async function ruleResult(set: PolicySet, position: number, facts: FactValues): Promise<RuleResult | undefined> {
  const rule = set.rules[position]
  if (rule === undefined) return undefined
  return { rule, ...(await outcomeOf(set, rule, set.evaluator.rules[position], facts)) }
}

async function factorResult(
  set: PolicySet,
  position: number,
  facts: FactValues,
  read: ReadFact,
): Promise<FactorResult | undefined> {
  const factor = set.factors[position]
  if (factor === undefined) return undefined
  const when = await outcomeOf(set, factor, set.evaluator.factors[position], facts)
  if (when.outcome === 'false') return { factor, ...when, fraction: 0 }
  if (factor.scale === undefined) return { factor, ...when, fraction: 1 }
  const { fact, from, to } = factor.scale
  const value = read(fact)
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return { factor, ...when, outcome: 'unknown', fraction: 1, missing: [...new Set([...when.missing, fact.text])] }
  }
  // An unevaluable `when` counts as met, and in full: a missing fact never lowers the risk.
  const fraction = when.outcome === 'unknown' ? 1 : Math.min(1, Math.max(0, (value - from) / (to - from)))
  return { factor, ...when, fraction }
}

async function outcomeOf(
  set: PolicySet,
  { condition }: Candidate,
  prepared: PreparedCondition | undefined,
  facts: FactValues,
): Promise<Outcome> {
  if (condition === undefined || prepared === undefined) return { outcome: 'true', missing: [], leaves: [] }
  const truths = await prepared.run(facts)
  const byIndex = new Map(prepared.leaves.map((leaf, i) => [leaf.index, truths[i] ?? 'unknown']))
  const outcome = combine(condition, set.conditions, ({ index }) => byIndex.get(index) ?? 'unknown')
  const leaves = prepared.leaves.map((leaf, i) => leafResult(leaf, truths[i] ?? 'unknown', facts))
  const unknown = outcome === 'unknown' ? leaves.filter((leaf) => leaf.outcome === 'unknown') : []
  return { outcome, missing: [...new Set(unknown.map(({ fact }) => fact))], leaves }
}

function leafResult({ fact, operator, wanted, file, line }: Leaf, outcome: Truth, facts: FactValues): LeafResult {
  return { fact: fact.text, operator, wanted, seen: facts.values.get(fact.text), outcome, file, line }
}

/** What a request brings to be held against the action's declaration. */
export interface Submitted {
  action: string
  context: JsonObject | undefined
  plan: JsonObject | undefined
}

/**
 * Whether context and plan pass the schemas of a declared action, and a plan names the same action.
 * An absent context is held against its schema as the empty object, so that required members are
 * required; a plan is optional, and held against its schema when there is one. For an undeclared action `ok` is false, and a fault only when the plan names another.
 */
export function validatePlanAndContext(set: PolicySet, submitted: Submitted): { ok: boolean; fault?: string } {
  const { action, context, plan } = submitted
  if (plan !== undefined && plan.action !== undefined && plan.action !== action) {
    return { ok: false, fault: 'plan.action names another action than the request' }
  }
  const declared = set.actions.get(action)
  if (declared === undefined) return { ok: false }
  const fault = declared.context?.(context ?? {}) ?? (plan && declared.plan?.(plan))
  if (fault !== undefined) return { ok: false, fault }
  return { ok: plan === undefined || plan.action === action }
}
