import type { Evaluation, RuleResult, Validation } from '../policies/evaluate.ts'
import {
  type ApprovalTerms,
  type Decision,
  type Effect,
  POLICY_STEPS,
  type PolicySet,
  type Retry,
  type Rule,
  type Truth,
} from '../policies/set.ts'
import { combineTerms } from '../policies/terms.ts'
import type { Risk } from './risk.ts'

/** Grounds of a decision: the steps in their order, and an approval, which turns a hold into an allow. */
export const DECIDED_BY = ['kill_switch', 'no_policy', ...POLICY_STEPS, 'approval'] as const
export type DecidedBy = (typeof DECIDED_BY)[number]

/** A rule or factor that could not be evaluated. */
export interface Unevaluable {
  kind: 'rule' | 'factor'
  name: string
  /** Facts that are missing or of the wrong type. */
  facts: readonly string[]
  /** Facts whose comparison takes more work than one check may do; absent where there are none. */
  overBudget?: readonly string[]
}

export interface DecisionInput {
  /** Undefined when the tenant has no policy in force. */
  set: PolicySet | undefined
  /** Set when a kill switch covers the action. */
  killSwitchReason: string | undefined
  /** From validatePlanAndContext: a fault denies, `ok` is only passed on. */
  validation: Validation
  evaluation: Evaluation | undefined
  risk: Risk
}

export interface Ruling {
  decision: Decision
  reason: string
  /** The rule that decides, if one does. */
  rule: string | null
  decidedBy: DecidedBy
  retry: Retry
  unevaluable: readonly Unevaluable[]
  planValidated: boolean
  /** Terms of the approval; set when the decision is require_approval. */
  hold: ApprovalTerms | null
  /** Decision of the policies, where they are only observed. */
  observed?: Decision
}

type Verdict = Omit<Ruling, 'unevaluable' | 'planValidated'>

/**
 * The decision: the first step that applies of kill switch, no policy, invalid context, deny rule,
 * deny by risk, hold rule, hold by default or risk, allow. Approvals are the caller's concern: it
 * answers allow where the decision is require_approval and a valid approval is presented.
 */
export function decide(input: DecisionInput): Ruling {
  // Member by member: a spread costs more than the decision.
  const { decision, reason, rule, decidedBy, retry, hold } = verdictOf(input)
  const unevaluable = input.evaluation === undefined ? NONE : unevaluableOf(input.evaluation)
  return { decision, reason, rule, decidedBy, retry, unevaluable, planValidated: input.validation.ok, hold }
}

function verdictOf({ set, killSwitchReason, validation, evaluation, risk }: DecisionInput): Verdict {
  if (killSwitchReason !== undefined) return denied('kill_switch', killSwitchReason, 'never')
  if (set === undefined || evaluation === undefined) {
    return denied('no_policy', 'No policy is in force for this tenant.', 'never')
  }
  if (validation.fault !== undefined) {
    return denied('invalid_context', `The request does not fit the action: ${validation.fault}.`, 'changed_request')
  }
  const denial = firstMatching(evaluation, 'deny')
  if (denial !== undefined) {
    const retry = denial.rule.condition === undefined ? 'never' : 'changed_request'
    return { ...denied('deny_rule', reasonOf(denial), retry), rule: denial.rule.id }
  }
  if (risk.score >= set.thresholds.deny) {
    const reason = `The risk score ${risk.score} reaches ${set.thresholds.deny}, from which actions are denied.`
    return denied('risk', reason, 'changed_request')
  }
  const holds = evaluation.rules.filter((result) => matches(result, 'require_approval'))
  const [hold] = holds
  if (hold !== undefined) {
    const terms = combineTerms(holds.map(({ rule }) => rule.terms))
    return { ...held('hold_rule', reasonOf(hold), terms), rule: hold.rule.id }
  }
  return baseVerdict(set, evaluation, risk)
}

/** Decides where nothing denies and no rule holds: by the allow rules, the default, or a hold by risk. */
function baseVerdict(set: PolicySet, evaluation: Evaluation, risk: Risk): Verdict {
  const allowing = firstMatching(evaluation, 'allow')
  if (allowing === undefined) {
    if (set.defaults.decision === 'require_approval') return held('default', set.defaults.reason, set.approval)
    const couldMatch = evaluation.rules.some(({ rule }) => rule.effect === 'allow' && rule.condition !== undefined)
    return denied('default', set.defaults.reason, couldMatch ? 'changed_request' : 'never')
  }
  if (risk.score >= set.thresholds.requireApproval) {
    const reason = `The risk score ${risk.score} reaches ${set.thresholds.requireApproval}, from which actions need approval.`
    return held('risk', reason, set.approval)
  }
  const { id, reason } = allowing.rule
  return { decision: 'allow', reason, rule: id, decidedBy: 'allow_rule', retry: 'never', hold: null }
}

function denied(decidedBy: DecidedBy, reason: string, retry: Retry): Verdict {
  return { decision: 'deny', reason, rule: null, decidedBy, retry, hold: null }
}

function held(decidedBy: DecidedBy, reason: string, hold: ApprovalTerms): Verdict {
  return { decision: 'require_approval', reason, rule: null, decidedBy, retry: 'after_approval', hold }
}

function firstMatching(evaluation: Evaluation, effect: Effect): RuleResult | undefined {
  return evaluation.rules.find((result) => matches(result, effect))
}

function matches({ rule, outcome }: RuleResult, effect: Effect): boolean {
  // Most rules are false, and need not be looked at for that.
  return outcome !== 'false' && rule.effect === effect && applies(rule, outcome)
}

/** A rule that cannot be evaluated applies where it restrains, and not where it permits. */
export function applies({ effect }: Rule, outcome: Truth): boolean {
  return outcome === 'true' || (outcome === 'unknown' && effect !== 'allow')
}

function reasonOf({ rule, outcome, missing, overBudget }: RuleResult): string {
  if (outcome !== 'unknown') return rule.reason
  const causes = [
    ...(missing.length > 0 ? [`${missing.join(', ')} is missing or of the wrong type`] : []),
    ...(overBudget.length > 0 ? [`comparing ${overBudget.join(', ')} takes more work than one check may do`] : []),
  ]
  return `Rule ${rule.id} cannot be evaluated, since ${causes.join(', and ')}: ${rule.reason}`
}

const NONE: readonly Unevaluable[] = []

function unevaluableOf({ rules, factors }: Evaluation): readonly Unevaluable[] {
  const found: Unevaluable[] = []
  for (const one of rules) if (one.outcome === 'unknown') found.push(unevaluable('rule', one.rule.id, one))
  for (const one of factors) if (one.outcome === 'unknown') found.push(unevaluable('factor', one.factor.name, one))
  return found
}

function unevaluable(
  kind: Unevaluable['kind'],
  name: string,
  { missing, overBudget }: Pick<RuleResult, 'missing' | 'overBudget'>,
): Unevaluable {
  return { kind, name, facts: missing, ...(overBudget.length > 0 && { overBudget }) }
}
