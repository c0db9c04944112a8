import {
  type Evaluation,
  evaluate,
  type ReadFact,
  type Validation,
  validatePlanAndContext,
} from '../policies/evaluate.ts'
import { domainOf, type PolicySet } from '../policies/set.ts'
import { decide, type Ruling } from './decide.ts'
import { type FactInput, factReader } from './facts.ts'
import { factsOverTime, type History } from './history.ts'
import { assessRisk, type Risk } from './risk.ts'

/** A request with everything that a policy may read. */
export interface Question extends Omit<FactInput, 'domain' | 'localTime' | 'overTime'> {
  set: PolicySet | undefined
  /** The reason of a kill switch that covers the action. */
  killSwitchReason: string | undefined
  /** Earlier allowed actions, as far as the set reads them. */
  history: History
}

export interface Judgement {
  outcome: Ruling
  risk: Risk
  /** Results of all candidate rules and factors; undefined without a policy. */
  evaluation: Evaluation | undefined
  validation: Validation
}

/** Judges a request: facts, evaluation, risk, decision. The same question gives the same answer, anywhere. */
export async function judge(question: Question): Promise<Judgement> {
  const { set, killSwitchReason, action, context, plan } = question
  const evaluation = set && (await evaluate(set, action, readerOf(question, set)))
  const validation = set ? validatePlanAndContext(set, { action, context, plan }) : { ok: false }
  const risk = assessRisk(evaluation)
  return { outcome: decide({ set, killSwitchReason, validation, evaluation, risk }), risk, evaluation, validation }
}

function readerOf(question: Question, set: PolicySet): ReadFact {
  const domain = domainOf(set, question.action)
  const overTime = factsOverTime(set, question, question.history)
  return factReader({ ...question, domain, localTime: set.localTime, overTime })
}
