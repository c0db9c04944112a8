import type { Approval, SignedIn } from '../../../client/api.ts'
import type { Endpoints } from '../../../client/endpoints.ts'
import { CONFIRMED_FROM } from '../../ui/badges.tsx'
import { visibleParts } from '../../ui/visible.ts'

export type VoteKind = 'approve' | 'reject'

/** What became of one of several votes. */
export interface Result {
  /** `voted`: the vote counts, and others must follow. */
  state: 'sending' | 'done' | 'voted' | 'refused'
  text: string
}

/** So many characters of a comment or a reason the service takes. */
export const MAX_COMMENT = 2000

/** What is said often when something is rejected; the agent is told. */
export const REJECT_REASONS = [
  'Not expected now: ask again when a person has agreed to it.',
  'The arguments are wrong.',
  'The amount is too high.',
  'The recipient is not known.',
  'It looks like the agent was misled by what it read.',
] as const

interface Vote {
  kind: VoteKind
  id: string
  text: string
  /** Makes this vote and each repetition one. */
  idempotencyKey?: string
}

/** One vote of who is signed in. @returns the approval as it is then @throws GateError */
export function sendVote(gate: Endpoints, who: SignedIn, { kind, id, text, idempotencyKey }: Vote): Promise<Approval> {
  const approverId = who.principal
  const options = idempotencyKey === undefined ? {} : { idempotencyKey }
  if (kind === 'reject') return gate.approvals.reject(id, { approverId, reason: text }, options)
  return gate.approvals.approve(id, { approverId, ...(text !== '' && { comment: text }) }, options)
}

/** How many people's votes count towards the quorum. */
export function countedOf({ votes }: Approval): number {
  return votes.filter(({ counts }) => counts).length
}

/** What the quorum lacks, as a sentence. @param areMore others have voted, or do so now */
export function neededText(missing: number, areMore: boolean): string {
  const more = areMore ? ' more' : ''
  return missing === 1 ? `One${more} person must approve.` : `${missing}${more} people must approve.`
}

/** True when it is approved one by one only, and by a typed word. */
export function isHighRisk({ riskScore }: Approval): boolean {
  return riskScore >= CONFIRMED_FROM
}

/** So long a name can be asked to be typed. */
const MOST_TYPED = 64

/** What who approves a high risk types: the name of the action, or a word where that cannot be typed as it is seen. */
export function confirmationOf({ action }: Approval): { word: string; isName: boolean } {
  const isTypeable = action.length <= MOST_TYPED && visibleParts(action).every(({ kind }) => kind === 'plain')
  return isTypeable && action.trim() === action && action !== ''
    ? { word: action, isName: true }
    : { word: 'approve', isName: false }
}

/** What was done, as a sentence. */
export function doneText(kind: VoteKind, approval: Approval): string {
  if (kind === 'reject') return 'Rejected. The agent is told why.'
  return approval.status === 'pending'
    ? `Your vote counts: ${countedOf(approval)} of ${approval.quorum}.`
    : 'Approved. The agent may act once.'
}

type Results = ReadonlyMap<string, Result>

export function countOf(results: Results, ...states: readonly Result['state'][]): number {
  return [...results.values()].filter(({ state }) => states.includes(state)).length
}

/** What was done to several, such as `12 approved, 1 not`. */
export function doneTitle(kind: VoteKind, asked: number, results: Results): string {
  const [done, voted] = [countOf(results, 'done'), countOf(results, 'voted')]
  const left = asked - done - voted
  const parts = [`${done} ${kind === 'approve' ? 'approved' : 'rejected'}`]
  if (voted > 0) parts.push(`${voted} voted for`)
  if (left > 0) parts.push(`${left} not`)
  return parts.join(', ')
}
