import { newWork, type Pause, type Work } from '../base/work.ts'
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
  /** Units of work that it may take. @default MAX_WORK */
  maxWork?: number
}

export interface Judgement {
  outcome: Ruling
  risk: Risk
  /** Results of all candidate rules and factors; undefined without a policy. */
  evaluation: Evaluation | undefined
  validation: Validation
  /** True where something was not compared, since it takes more work than the question may. */
  isOverBudget: boolean
}

/**
 * Judges a request: facts, evaluation, risk, decision. The same question gives the same answer, anywhere. A promise only
 * when the question may pause, and takes long.
 */
export function judge(question: Question): Judgement | Promise<Judgement> {
  const { set, action, context, plan, pause, isExplained = true, maxWork } = question
  const work = newWork(pause, maxWork)
  const validation = set ? validatePlanAndContext(set, { action, context, plan }, work) : NOT_VALIDATED
  const evaluation = set && evaluate(set, action, readerOf(question, set), work, isExplained)
  const conclude = (done: Evaluation | undefined): Judgement => concluded(question, validation, done, work)
  return evaluation instanceof Promise ? evaluation.then(conclude) : conclude(evaluation)
}

const NOT_VALIDATED: Validation = { ok: false }

function concluded(
  { set, killSwitchReason }: Question,
  validation: Validation,
  evaluation: Evaluation | undefined,
  { refused }: Work,
): Judgement {
  const risk = assessRisk(evaluation)
  const outcome = decide({ set, killSwitchReason, validation, evaluation, risk })
  return { outcome, risk, evaluation, validation, isOverBudget: refused > 0 }
}

function readerOf(question: Question, set: PolicySet): ReadFact {
  const overTime = overTimeReader(set, question, question.history)
  return factReader(question, { domain: domainOf(set, question.action), localTime: set.localTime, overTime })
}
