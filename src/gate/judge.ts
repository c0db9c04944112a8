import { newWork, type Pause } from '../base/work.ts'
import {
  type Evaluation,
  evaluate,
  type ReadFact,
  type Validation,
  validatePlanAndContext,
} from '../policies/evaluate.ts'
import { domainOf, type PolicySet } from '../policies/set.ts'
import { decide, type Ruling } from './decide.ts'
import { type Asked, factReader } from './facts.ts'
import { type History, overTimeReader } from './history.ts'
import { assessRisk, type Risk } from './risk.ts'

/** A request with everything that a policy may read. */
export interface Question extends Asked {
  set: PolicySet | undefined
  /** The reason of a kill switch that covers the action. */
  killSwitchReason: string | undefined
  /** Earlier allowed actions, as far as the set reads them. */
  history: History
  /** False where nobody asks why: comparisons that change nothing are left out. @default true */
  isExplained?: boolean
  /** Without it, the evaluation runs in one piece. */
  pause?: Pause | undefined
}

export interface Judgement {
  outcome: Ruling
  risk: Risk
  /** Results of all candidate rules and factors; undefined without a policy. */
  evaluation: Evaluation | undefined
  validation: Validation
}

/**
 * Judges a request: facts, evaluation, risk, decision. The same question gives the same answer, anywhere. A promise only
 * when the question may pause, and takes long.
 */
export function judge(question: Question): Judgement | Promise<Judgement> {
  const { set, action, context, plan, pause, isExplained = true } = question
  const work = newWork(pause)
  const validation = set ? validatePlanAndContext(set, { action, context, plan }, work) : NOT_VALIDATED
  const evaluation = set && evaluate(set, action, readerOf(question, set), work, isExplained)
  if (evaluation instanceof Promise) return evaluation.then((late) => concluded(question, validation, late))
  return concluded(question, validation, evaluation)
}

const NOT_VALIDATED: Validation = { ok: false }

function concluded(
  { set, killSwitchReason }: Question,
  validation: Validation,
  evaluation: Evaluation | undefined,
): Judgement {
  const risk = assessRisk(evaluation)
  return { outcome: decide({ set, killSwitchReason, validation, evaluation, risk }), risk, evaluation, validation }
}

function readerOf(question: Question, set: PolicySet): ReadFact {
  const overTime = overTimeReader(set, question, question.history)
  return factReader(question, { domain: domainOf(set, question.action), localTime: set.localTime, overTime })
}
