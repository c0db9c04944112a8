import { linkPolicySet } from '../policies/link.ts'
import type { PolicyData } from '../policies/set.ts'
import type { Ruling } from './decide.ts'
import { type Explanation, explanationOf } from './explain.ts'
import { judge, type Question } from './judge.ts'
import type { Risk } from './risk.ts'

/** The decision and its reasons, before approvals. */
export interface Verdict extends Omit<Ruling, 'hold'> {
  readonly riskScore: number
  readonly factors: Risk['factors']
  readonly explanation: Explanation
}

export async function verdictOf(question: Question): Promise<Verdict> {
  const judgement = await judge(question)
  const { outcome, risk } = judgement
  const { hold: _, ...decided } = outcome
  const explanation = explanationOf(question.set, question.action, judgement)
  return { ...decided, riskScore: risk.score, factors: risk.factors, explanation }
}

/** A question to policies that are not in force: plain data, for another thread. */
export interface DraftQuestion {
  data: PolicyData
  asked: Omit<Question, 'set'>
}

export function draftVerdict({ data, asked }: DraftQuestion): Promise<Verdict> {
  return verdictOf({ ...asked, set: linkPolicySet(data) })
}
