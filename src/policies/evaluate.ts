import type { Json, JsonObject } from '../base/json.ts'
import { combiner } from './kleene.ts'
import type { FactPath } from './path.ts'
import type { Candidate, Factor, FactValues, Leaf, PolicySet, Rule, Truth } from './set.ts'

/** Reads one fact of a request. Undefined when it is missing; null is no value either. */
export type ReadFact = (path: FactPath) => Json | undefined

interface ConditionResult {
  outcome: Truth
  /** Facts that make the outcome unknown, since they are missing or of the wrong type. Otherwise empty. */
  missing: readonly string[]
}

export interface RuleResult extends ConditionResult {
  rule: Rule
}

export interface FactorResult extends ConditionResult {
  factor: Factor
  /** The share of the weight that counts, 0 to 1; 1 when the factor cannot be evaluated. */
  fraction: number
  /** The value of the fact of the scale; undefined when it is missing, not read, or there is no scale. */
  scaled: Json | undefined
}

/** Results of the rules and factors about an action, in declared order. */
export interface Evaluation {
  rules: readonly RuleResult[]
  factors: readonly FactorResult[]
  /** The facts that were compared. */
  facts: FactValues
  /** Paths of the missing facts that their declared default replaces. */
  defaulted: ReadonlySet<string>
  /** Truths of the comparisons, by Leaf.index. */
  truths: ReadonlyMap<number, Truth>
}

/** Evaluates the set for `action`. Evaluations may overlap; they share no mutable state. */
export async function evaluate(set: PolicySet, action: string, readFact: ReadFact): Promise<Evaluation> {
  const question = set.evaluator.about(action)
  const defaulted = new Set<string>()
  const read = readerWithDefaults(set, readFact, defaulted)
  const facts = readFacts(question.facts, read)
  const truths = await question.answer(facts)
  const truthOf = ({ index }: Leaf): Truth => truths.get(index) ?? 'unknown'
  const combine = combiner(set.conditions, truthOf)
  const resultOf = (candidate: Candidate): ConditionResult => {
    const outcome = candidate.condition === undefined ? 'true' : combine(candidate.condition)
    if (outcome !== 'unknown') return { outcome, missing: [] }
    const unknown = set.evaluator.leavesOf(candidate).filter((leaf) => truthOf(leaf) === 'unknown')
    return { outcome, missing: [...new Set(unknown.map(({ fact }) => fact.text))] }
  }
  return {
    rules: question.rules.map((rule) => ({ rule, ...resultOf(rule) })),
    factors: question.factors.map((factor) => ({ factor, ...shareOf(factor, resultOf(factor), read) })),
    facts,
    defaulted,
    truths,
  }
}

/** Reads a fact, or its declared default when it has no value; notes such facts in `defaulted`. */
function readerWithDefaults(set: PolicySet, readFact: ReadFact, defaulted: Set<string>): ReadFact {
  return (path) => {
    const value = readFact(path)
    if (value !== undefined && value !== null) return value
    const standIn = set.facts.get(path.text)?.default
    if (standIn !== undefined) defaulted.add(path.text)
    return standIn
  }
}

/** The facts by path text, without the missing ones. */
export function readFacts(paths: readonly FactPath[], read: ReadFact): FactValues {
  const values = new Map<string, Json>()
  for (const path of paths) {
    const value = read(path)
    if (value !== undefined) values.set(path.text, value)
  }
  return values
}

/** The share of its weight that a factor adds, its outcome, and the facts that are missing for it. */
function shareOf(factor: Factor, { outcome, missing }: ConditionResult, read: ReadFact): Omit<FactorResult, 'factor'> {
  if (outcome === 'false') return { outcome, missing, fraction: 0, scaled: undefined }
  if (factor.scale === undefined) return { outcome, missing, fraction: 1, scaled: undefined }
  const { fact, from, to } = factor.scale
  const value = read(fact)
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return { outcome: 'unknown', missing: [...new Set([...missing, fact.text])], fraction: 1, scaled: value }
  }
  // An unevaluable `when` counts as met, and in full: a missing fact never lowers the risk.
  const fraction = outcome === 'unknown' ? 1 : Math.min(1, Math.max(0, (value - from) / (to - from)))
  return { outcome, missing, fraction, scaled: value }
}

/** The parts of a request that are validated against the action's declaration. */
export interface Submitted {
  action: string
  context: JsonObject | undefined
  plan: JsonObject | undefined
}

/** Result of validating a request against its action's declaration. */
export interface Validation {
  /** True when the action is declared, and context and plan pass. */
  ok: boolean
  /** The fault, as a sentence without its end. */
  fault?: string
}

/**
 * Validates context and plan: both must pass the schemas of a declared action, and a plan must name that action. An
 * absent context counts as the empty object, so that required members are required; an absent plan passes. For an
 * undeclared action `ok` is false, and a fault is given only when the plan names another action.
 */
export function validatePlanAndContext(set: PolicySet, submitted: Submitted): Validation {
  const { action, context, plan } = submitted
  if (plan !== undefined && plan.action !== undefined && plan.action !== action) {
    return { ok: false, fault: 'plan.action names another action than the request' }
  }
  const declared = set.validators(action)
  if (declared === undefined) return { ok: false }
  const fault = declared.context?.(context ?? {}) ?? (plan && declared.plan?.(plan))
  if (fault !== undefined) return { ok: false, fault }
  return { ok: plan === undefined || plan.action === action }
}
