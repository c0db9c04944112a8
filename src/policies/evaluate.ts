import type { Json, JsonObject } from '../base/json.ts'
import { UNLIMITED, type Work } from '../base/work.ts'
import { combiner } from './kleene.ts'
import type { FactPath } from './path.ts'
import type { Candidate, Factor, FactValues, Leaf, PolicySet, Question, Rule, Truth, Truths } from './set.ts'

/**
 * Reads one fact of a request. Undefined when it is missing; null counts as missing. A fact that takes more work than
 * is left is counted in `work.refused`, and what is returned then is nothing to go by.
 */
export type ReadFact = (path: FactPath, work: Work) => Json | undefined

interface ConditionResult {
  outcome: Truth
  /** Facts that make the outcome unknown, since they are missing or of the wrong type. Otherwise empty. */
  missing: readonly string[]
  /** Facts that make the outcome unknown, since comparing them takes more work than a check may do. Otherwise empty. */
  overBudget: readonly string[]
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
  /**
   * Truths of the comparisons, by Leaf.index; those that take more work than the check may do are absent, and in an
   * evaluation that is not complete, those that no outcome needs.
   */
  truths: Truths
}

/**
 * Evaluates the set for `action`, within `work`: what takes more is unknown, so that rules which restrain apply.
 * Evaluations may overlap; they share no mutable state.
 *
 * @param isComplete false where nobody explains it: leaves that no outcome needs are not asked
 */
export function evaluate(
  set: PolicySet,
  action: string,
  readFact: ReadFact,
  work: Work,
  isComplete = true,
): Evaluation | Promise<Evaluation> {
  const question = set.evaluator.about(action)
  const defaulted = new Set<string>()
  const refused = new Set<string>()
  const read = readerWithDefaults(set, readFact, { defaulted, refused, work })
  const facts = readFacts(question.facts, read)
  const conclude = (truths: Truths): Evaluation =>
    concluded({ set, question, facts, truths }, { defaulted, refused, read })
  const truths = question.answer({ facts, refused }, work, isComplete)
  return truths instanceof Promise ? truths.then(conclude) : conclude(truths)
}

interface Answered {
  set: PolicySet
  question: Question
  facts: FactValues
  truths: Truths
}

function concluded(
  { set, question, facts, truths }: Answered,
  { defaulted, refused, read }: { defaulted: ReadonlySet<string>; refused: ReadonlySet<string>; read: Read },
): Evaluation {
  const truthOf = ({ index }: Leaf): Truth => truths.get(index) ?? 'unknown'
  const combine = combiner(set.conditions, truthOf)
  const resultOf = (candidate: Candidate): ConditionResult => {
    const outcome = candidate.condition === undefined ? 'true' : combine(candidate.condition)
    if (outcome !== 'unknown') return KNOWN[outcome]
    const unknown = set.evaluator.leavesOf(candidate).filter((leaf) => truthOf(leaf) === 'unknown')
    const [missing, overBudget] = [true, false].map((isCompared) =>
      unknown.filter(({ index }) => truths.has(index) === isCompared).map(({ fact }) => fact.text),
    )
    return { outcome, missing: [...new Set(missing)], overBudget: [...new Set(overBudget)] }
  }
  return {
    rules: question.rules.map((rule) => {
      const { outcome, missing, overBudget } = resultOf(rule)
      return { rule, outcome, missing, overBudget }
    }),
    factors: question.factors.map((factor) => factorResult(factor, resultOf(factor), { read, refused })),
    facts,
    defaulted,
    truths,
  }
}

/** Results of most conditions, made once. */
const KNOWN: Readonly<Record<Exclude<Truth, 'unknown'>, ConditionResult>> = {
  true: { outcome: 'true', missing: [], overBudget: [] },
  false: { outcome: 'false', missing: [], overBudget: [] },
}

type Read = (path: FactPath) => Json | undefined

/**
 * Reads a fact, or its declared default when it has no value; notes such facts in `defaulted`. A fact that is over the
 * budget has neither, and is noted in `refused`.
 */
function readerWithDefaults(
  set: PolicySet,
  readFact: ReadFact,
  { defaulted, refused, work }: { defaulted: Set<string>; refused: Set<string>; work: Work },
): Read {
  return (path) => {
    const before = work.refused
    const value = readFact(path, work)
    if (work.refused > before) {
      refused.add(path.text)
      return undefined
    }
    if (value !== undefined && value !== null) return value
    const standIn = set.facts.get(path.text)?.default
    if (standIn !== undefined) defaulted.add(path.text)
    return standIn
  }
}

/** The facts by path text, without the missing ones. */
function readFacts(paths: readonly FactPath[], read: Read): FactValues {
  const values = new Map<string, Json>()
  for (const path of paths) {
    const value = read(path)
    if (value !== undefined) values.set(path.text, value)
  }
  return values
}

/** The share of its weight that a factor adds, its outcome, and the facts that are missing for it. */
function factorResult(
  factor: Factor,
  { outcome, missing, overBudget }: ConditionResult,
  { read, refused }: { read: Read; refused: ReadonlySet<string> },
): FactorResult {
  const { scale } = factor
  if (outcome === 'false' || scale === undefined)
    return { factor, outcome, missing, overBudget, fraction: outcome === 'false' ? 0 : 1, scaled: undefined }
  const { fact, from, to } = scale
  const scaled = read(fact)
  if (typeof scaled !== 'number' || !Number.isFinite(scaled)) {
    const withFact = (facts: readonly string[]): string[] => [...new Set([...facts, fact.text])]
    const cause = refused.has(fact.text)
      ? { missing, overBudget: withFact(overBudget) }
      : { missing: withFact(missing), overBudget }
    return { factor, outcome: 'unknown', ...cause, fraction: 1, scaled }
  }
  // An unevaluable `when` counts as met, and in full: a missing fact never lowers the risk.
  const fraction = outcome === 'unknown' ? 1 : Math.min(1, Math.max(0, (scaled - from) / (to - from)))
  return { factor, outcome, missing, overBudget, fraction, scaled }
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
export function validatePlanAndContext(set: PolicySet, submitted: Submitted, work: Work = UNLIMITED): Validation {
  const { action, context, plan } = submitted
  if (plan !== undefined && plan.action !== undefined && plan.action !== action) {
    return { ok: false, fault: 'plan.action names another action than the request' }
  }
  const declared = set.validators(action)
  if (declared === undefined) return { ok: false }
  const fault = declared.context?.(context ?? {}, work) ?? (plan && declared.plan?.(plan, work))
  if (fault !== undefined) return { ok: false, fault }
  return { ok: plan === undefined || plan.action === action }
}
