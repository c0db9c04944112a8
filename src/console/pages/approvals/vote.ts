import type { Approval, SignedIn } from '../../../client/api.ts'
import type { Endpoints } from '../../../client/endpoints.ts'
import { CONFIRMED_FROM } from '../../ui/badges.tsx'
import { visibleParts } from '../../ui/visible.ts'

export type VoteKind = 'approve' | 'reject'

/** The result of one vote in a batch. */
export interface Result {
  /** `voted`: the vote counts, and more are needed. */
  state: 'sending' | 'done' | 'voted' | 'refused'
  text: string
}

/** Limit of the service for characters of a comment or reason. */
export const MAX_COMMENT = 2000

/** Frequent reasons to reject; the agent sees them. */
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
  /** The same for each repetition of this vote. */
  idempotencyKey?: string
}

/** Casts a vote as the signed-in user. @returns the updated approval @throws GateError */
export function sendVote(gate: Endpoints, who: SignedIn, { kind, id, text, idempotencyKey }: Vote): Promise<Approval> {
  const approverId = who.principal
  const options = idempotencyKey === undefined ? {} : { idempotencyKey }
  if (kind === 'reject') return gate.approvals.reject(id, { approverId, reason: text }, options)
  return gate.approvals.approve(id, { approverId, ...(text !== '' && { comment: text }) }, options)
}

/** The number of people whose votes count towards the quorum. */
export function countedOf({ votes }: Approval): number {
  return votes.filter(({ counts }) => counts).length
}

/** The missing votes, as a sentence. @param areMore others have voted, or do so now */
export function neededText(missing: number, areMore: boolean): string {
  const more = areMore ? ' more' : ''
  return missing === 1 ? `One${more} person must approve.` : `${missing}${more} people must approve.`
}

/** True when it needs a typed word, and a vote of its own. */
export function isHighRisk({ riskScore }: Approval): boolean {
  return riskScore >= CONFIRMED_FROM
}

/** Limit of a name that the user has to type. */
const MOST_TYPED = 64

/** The word to type for a high risk: the name of the action, or another if that cannot be typed as displayed. */
export function confirmationOf({ action }: Approval): { word: string; isName: boolean } {
  const isTypeable = action.length <= MOST_TYPED && visibleParts(action).every(({ kind }) => kind === 'plain')
  return isTypeable && action.trim() === action && action !== ''
    ? { word: action, isName: true }
    : { word: 'approve', isName: false }
}

/** The result of a vote, as a sentence. */
export function doneText(kind: VoteKind, approval: Approval): string {
  if (kind === 'reject') return 'Rejected. The agent sees the reason.'
  return approval.status === 'pending'
    ? `Your vote counts: ${countedOf(approval)} of ${approval.quorum}.`
    : 'Approved. The agent may act once.'
}

type Results = ReadonlyMap<string, Result>

export function countOf(results: Results, ...states: readonly Result['state'][]): number {
  return [...results.values()].filter(({ state }) => states.includes(state)).length
}

/** The result of a batch, such as `12 approved, 1 not`. */
export function doneTitle(kind: VoteKind, total: number, results: Results): string {
  const [done, voted] = [countOf(results, 'done'), countOf(results, 'voted')]
  const left = total - done - voted
  const parts = [`${done} ${kind === 'approve' ? 'approved' : 'rejected'}`]
  if (voted > 0) parts.push(`${voted} voted for`)
  if (left > 0) parts.push(`${left} not`)
  return parts.join(', ')
}
