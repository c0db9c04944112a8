import type { Json, JsonObject } from '../base/json.ts'
import { combiner } from './kleene.ts'
import type { FactPath } from './path.ts'
import type { Candidate, Condition, Factor, FactValues, Leaf, PolicySet, Rule, Truth } from './set.ts'

export type { Truth } from './set.ts'

/** Reads one fact of a request. Undefined when it is missing; null is no value either. */
export type ReadFact = (path: FactPath) => Json | undefined

export interface RuleResult {
  rule: Rule
  outcome: Truth
  /** The facts for which an unknown outcome is unknown: missing, or of the wrong type. Else empty. */
  missing: readonly string[]
}

export interface FactorResult {
  factor: Factor
  outcome: Truth
  /** The share of the weight that counts, 0 to 1; 1 when the factor cannot be evaluated. */
  fraction: number
  /** The value of the fact of the scale; undefined when it is missing, not asked for, or there is no scale. */
  scaled: Json | undefined
  missing: readonly string[]
}

/** What the rules and factors about an action say: those only, in declared order. */
export interface Evaluation {
  rules: readonly RuleResult[]
  factors: readonly FactorResult[]
  /** The facts that were compared. */
  facts: FactValues
  /** The facts that were missing, so that their declared default stands in, by path text. */
  defaulted: ReadonlySet<string>
  /** What each comparison came to, by Leaf.index. */
  truths: ReadonlyMap<number, Truth>
}

interface Answer {
  outcome: Truth
  missing: readonly string[]
}

/** Evaluates what the set says about `action`. Evaluations may overlap; they share nothing that changes. */
export async function evaluate(set: PolicySet, action: string, readFact: ReadFact): Promise<Evaluation> {
  const question = set.evaluator.about(action)
  const defaulted = new Set<string>()
  const read = readerWithDefaults(set, readFact, defaulted)
  const facts = readFacts(question.facts, read)
  const truths = await question.answer(facts)
  const truthOf = ({ index }: Leaf): Truth => truths.get(index) ?? 'unknown'
  const answers: Answers = { truthOf, combine: combiner(set.conditions, truthOf) }
  return {
    rules: question.rules.flatMap((i) => ruleResult(set, i, answers)),
    factors: question.factors.flatMap((i) => factorResult(set, i, answers, read)),
    facts,
    defaulted,
    truths,
  }
}

/** What the leaves and conditions of a check came to. */
interface Answers {
  truthOf: (leaf: Leaf) => Truth
  combine: (condition: Condition) => Truth
}

/** Reads a fact, with the declared default where there is no value; which facts these are is added to `defaulted`. */
function readerWithDefaults(set: PolicySet, readFact: ReadFact, defaulted: Set<string>): ReadFact {
  return (path) => {
    const value = readFact(path)
    if (value !== undefined && value !== null) return value
    const standIn = set.facts.get(path.text)?.default
    if (standIn !== undefined) defaulted.add(path.text)
    return standIn
  }
}

function readFacts(paths: readonly FactPath[], read: ReadFact): FactValues {
  const values = new Map<string, Json>()
  for (const path of paths) {
    const value = read(path)
    if (value !== undefined) values.set(path.text, value)
  }
  return values
}

function ruleResult(set: PolicySet, position: number, answers: Answers): RuleResult[] {
  const rule = set.rules[position]
  if (rule === undefined) return []
  return [{ rule, ...outcomeOf(rule, set.evaluator.ruleLeaves(position), answers) }]
}

function factorResult(set: PolicySet, position: number, answers: Answers, read: ReadFact): FactorResult[] {
  const factor = set.factors[position]
  if (factor === undefined) return []
  const when = outcomeOf(factor, set.evaluator.factorLeaves(position), answers)
  return [{ factor, ...when, ...shareOf(factor, when, read) }]
}

/** How much of its weight a factor adds, and what it is for want of. */
function shareOf(
  factor: Factor,
  when: Answer,
  read: ReadFact,
): Pick<FactorResult, 'fraction' | 'outcome' | 'missing' | 'scaled'> {
  const { outcome, missing } = when
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

function outcomeOf({ condition }: Candidate, asked: readonly Leaf[], { combine, truthOf }: Answers): Answer {
  if (condition === undefined) return { outcome: 'true', missing: [] }
  const outcome = combine(condition)
  if (outcome !== 'unknown') return { outcome, missing: [] }
  const unknown = asked.filter((leaf) => truthOf(leaf) === 'unknown')
  return { outcome, missing: [...new Set(unknown.map(({ fact }) => fact.text))] }
}

/** What a request brings to be held against the action's declaration. */
export interface Submitted {
  action: string
  context: JsonObject | undefined
  plan: JsonObject | undefined
}

/** Whether a request passes what its action declares. */
export interface Validation {
  /** The action is declared, and all passes. */
  ok: boolean
  /** What does not pass: a sentence without its end. */
  fault?: string
}

/**
 * Whether context and plan pass the schemas of a declared action, and a plan names the same action.
 * An absent context is held against its schema as the empty object, so that required members are
 * required; a plan is optional, and held against its schema when there is one. For an undeclared action `ok` is false, and a fault only when the plan names another.
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
