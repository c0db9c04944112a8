import type { Ruling } from '../../gate/decide.ts'
import { type Explanation, explanationOf } from '../../gate/explain.ts'
import type { PolicySet } from '../../policies/set.ts'
import type { PolicyTest } from '../test-files/cases.ts'
import type { Case } from './cases.ts'
import type { Difference } from './differences.ts'
import type { CaseResult } from './run.ts'

interface CaseAnswer extends Pick<Ruling, 'decision' | 'reason' | 'rule' | 'decidedBy'> {
  readonly riskScore: number
}

export interface Failure {
  readonly answer: CaseAnswer
  readonly differences: readonly Difference[]
  /** Undefined beyond the failures that are explained: nobody reads thousands. */
  readonly explanation: Explanation | undefined
}

/** The report of a case: small where it passed, so that thousands can be kept. */
export interface CaseReport {
  readonly asked: Case
  /** Null for a case that was skipped. */
  readonly answer: CaseAnswer | null
  /** Set where it failed. */
  readonly failure: Failure | undefined
  /** Duration; 0 where it was skipped. */
  readonly ms: number
}

/** @param explained whether the failure, if it is one, is explained */
export function reportOf(set: PolicySet, result: CaseResult, ms: number, explained: boolean): CaseReport {
  const { asked, judgement, differences } = result
  const { decision, reason, rule, decidedBy } = judgement.outcome
  const answer = { decision, reason, rule, decidedBy, riskScore: judgement.risk.score }
  if (differences.length === 0) return { asked, answer, failure: undefined, ms }
  const explanation = explained ? explanationOf(set, asked.action, judgement) : undefined
  return { asked, answer, failure: { answer, differences, explanation }, ms }
}

export function skippedReport(asked: Case): CaseReport {
  return { asked, answer: null, failure: undefined, ms: 0 }
}

/** The file of a test as diagnostics name it: `acme/acme.test.yaml`. */
export function fileOf({ place }: PolicyTest): string {
  return place.source.file
}

export type Counts = ReturnType<typeof countsOf>

export function countsOf(reports: readonly CaseReport[]) {
  const failed = reports.filter(({ failure }) => failure !== undefined).length
  const skipped = reports.filter(({ answer }) => answer === null).length
  const tests = new Set(reports.map(({ asked }) => asked.test)).size
  return { tests, cases: reports.length, passed: reports.length - failed - skipped, failed, skipped }
}
