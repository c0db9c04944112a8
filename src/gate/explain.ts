import type { FactorResult, RuleResult } from '../policies/evaluate.ts'
import type { Factor, PolicySet, Rule, Scale, Truth } from '../policies/set.ts'
import { applies } from './decide.ts'
import { type ExplainedCondition, explainerOf } from './explain-condition.ts'
import type { Judgement } from './judge.ts'
import { type Shown, shortText, shown } from './shown.ts'

export type { ExplainedCondition, ExplainedLeaf, ExplainedReference } from './explain-condition.ts'

/** Most rules shown, and most factors: the deciding rule first, then those that matched. */
export const MAX_EXPLAINED = 50

/** Explains a decision as plain data of bounded size, whatever the request and the policies hold. */
export interface Explanation {
  /** The domain of the action; null when it is in none. */
  readonly domain: string | null
  /** Reason of the stop that covers the action; null when none does. */
  readonly killSwitch: string | null
  readonly request: ExplainedRequest
  /** Risk scores from which an action needs approval, and is denied; null without a policy. */
  readonly thresholds: PolicySet['thresholds'] | null
  /** The rules about the action: the one that decides, then those that match, then the others, each in declared order. */
  readonly rules: readonly ExplainedRule[]
  readonly rulesLeftOut: number
  /** The risk factors about the action: those that add something first. */
  readonly factors: readonly ExplainedFactor[]
  readonly factorsLeftOut: number
}

/** Result of validating context and plan against the action's declaration. */
export interface ExplainedRequest {
  /** True when the action is declared under `actions`. Otherwise only the action that the plan names is checked. */
  readonly declared: boolean
  /** True when the action is declared, and context and plan pass. */
  readonly validated: boolean
  /** The fault, as a sentence without its end; null when there is none. */
  readonly fault: string | null
}

export interface ExplainedRule extends Pick<Rule, 'id' | 'effect' | 'file' | 'line'> {
  readonly outcome: Truth
  /** A rule of unknown outcome matches where it restrains, and does not where it permits. */
  readonly matches: boolean
  readonly decides: boolean
  /** Absent from a rule without one, which always holds. */
  readonly condition?: ExplainedCondition
}

export interface ExplainedFactor extends Pick<Factor, 'name' | 'weight' | 'file' | 'line'> {
  readonly outcome: Truth
  /** Points that it added, of its weight. */
  readonly contribution: number
  /** Absent from a factor without one, which always adds something. */
  readonly condition?: ExplainedCondition
  readonly scale: ExplainedScale | null
}

export interface ExplainedScale extends Pick<Scale, 'from' | 'to'> {
  readonly fact: string
  /** Null when the fact is missing, or was not read since the condition is false. */
  readonly seen: Shown | null
  /** The fact was missing: `seen` is its declared default. */
  readonly defaulted?: true
}

/** @param set the policies that the judgement applies */
export function explanationOf(set: PolicySet | undefined, action: string, judgement: Judgement): Explanation {
  const { outcome, risk, evaluation, validation } = judgement
  const rules = evaluation?.rules ?? []
  const factors = (evaluation?.factors ?? []).map((result, i) => ({
    result,
    contribution: risk.factors[i]?.contribution ?? 0,
  }))
  const explain = explainerOf(set, evaluation)
  const isDefaulted = (fact: string): boolean => evaluation?.defaulted.has(fact) ?? false
  const decides = (rule: Rule): boolean => rule.id === outcome.rule
  const orderedRules = inOrder(rules, ({ rule, outcome: truth }) => {
    if (decides(rule)) return 0
    return applies(rule, truth) ? 1 : 2
  })
  const orderedFactors = inOrder(factors, ({ contribution }) => (contribution > 0 ? 0 : 1))
  return {
    domain: set?.evaluator.about(action).domain ?? null,
    killSwitch: outcome.decidedBy === 'kill_switch' ? outcome.reason : null,
    request: { declared: set?.actions.has(action) ?? false, validated: validation.ok, fault: validation.fault ?? null },
    thresholds: set?.thresholds ?? null,
    rules: orderedRules.map((result) => explainedRule(result, decides(result.rule), explain)),
    rulesLeftOut: rules.length - orderedRules.length,
    factors: orderedFactors.map(({ result, contribution }) =>
      explainedFactor(result, contribution, { explain, isDefaulted }),
    ),
    factorsLeftOut: factors.length - orderedFactors.length,
  }
}

type Explain = ReturnType<typeof explainerOf>

/** The first MAX_EXPLAINED items by rank; those of the same rank keep their order. */
function inOrder<T>(items: readonly T[], rank: (item: T) => number): T[] {
  return [...items].sort((a, b) => rank(a) - rank(b)).slice(0, MAX_EXPLAINED)
}

function explainedRule({ rule, outcome }: RuleResult, decides: boolean, explain: Explain): ExplainedRule {
  const { id, effect, file, line, condition } = rule
  return { id, effect, outcome, matches: applies(rule, outcome), decides, file, line, ...explain(condition) }
}

function explainedFactor(
  result: FactorResult,
  contribution: number,
  { explain, isDefaulted }: { explain: Explain; isDefaulted: (fact: string) => boolean },
): ExplainedFactor {
  const { name, weight, scale, file, line, condition } = result.factor
  return {
    name,
    outcome: result.outcome,
    weight,
    contribution,
    file,
    line,
    ...explain(condition),
    scale: scale === undefined ? null : explainedScale(scale, result.scaled, isDefaulted(scale.fact.text)),
  }
}

function explainedScale({ fact, from, to }: Scale, seen: FactorResult['scaled'], isDefaulted: boolean): ExplainedScale {
  const explained = { fact: shortText(fact.text), from, to, seen: seen === undefined ? null : shown(seen) }
  return seen !== undefined && isDefaulted ? { ...explained, defaulted: true } : explained
}
