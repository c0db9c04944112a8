import type { Decision, PolicySet } from '../policies/set.ts'
import type { DecidedBy, Ruling } from './decide.ts'
import type { Judgement } from './judge.ts'

/** Reasons why a shadow says nothing about a request. */
export const SHADOW_FAILURES = {
  error: 'its evaluation ended with an error',
  work: 'its evaluation takes more than half of the work that a check may do',
  time: 'its evaluation, or reading what it counts, took too long for the check to wait',
} as const
export type ShadowFailure = keyof typeof SHADOW_FAILURES

/** The set in shadow beside a decision, with what it would have decided where that differs, or why it says nothing. */
export type ShadowNote =
  | { digest: string }
  | { decidedBy: DecidedBy; decision: Decision; digest: string; rule: string | null }
  | { digest: string; failed: ShadowFailure }

/**
 * The note of a set in shadow about a request, without its reason: a text of policies that are not in force stays with
 * those who may read them.
 *
 * @param decided the decision of the policies in force, by an approval where one decided
 * @param held true when the policies in force hold the action: an approval answers the hold of both
 */
export function shadowNote({ digest }: PolicySet, judgement: Judgement, decided: Decision, held: boolean): ShadowNote {
  if (judgement.isOverBudget) return { digest, failed: 'work' }
  const { decision, decidedBy, rule, hold } = judgement.outcome
  const isSame = decision === decided || (held && hold !== null)
  return isSame ? { digest } : { decidedBy, decision, digest, rule }
}

/** Notes of a set in shadow, counted by the decision and its own, or by the cause where it said nothing. */
export interface ShadowTally {
  matrix: { from: Decision; to: Decision; count: number }[]
  failed: { why: ShadowFailure; count: number }[]
}

/** Counts a note. @param from the decision of the policies in force */
export function countNote({ matrix, failed }: ShadowTally, from: Decision, note: ShadowNote): void {
  if ('failed' in note) {
    const why = note.failed
    addOne(failed, (one) => one.why === why, { why, count: 1 })
    return
  }
  const to = 'decision' in note ? note.decision : from
  addOne(matrix, (cell) => cell.from === from && cell.to === to, { from, to, count: 1 })
}

function addOne<T extends { count: number }>(counts: T[], isIt: (one: T) => boolean, first: T): void {
  const known = counts.find(isIt)
  if (known === undefined) counts.push(first)
  else known.count += 1
}

/** The decision of the policies, whether they are enforced or observed. */
export function policyDecision({ decision, observed }: Pick<Ruling, 'decision' | 'observed'>): Decision {
  return observed ?? decision
}
