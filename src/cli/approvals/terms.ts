import type { ApprovalTerms } from '../../policies/set.ts'

/** `2 people, with keys of treasury or audit, within 4h`. */
export function termsText(terms: ApprovalTerms): string {
  const { quorum, selfApproval, expiresInMs } = terms
  const people = quorum === 1 ? '1 person' : `${quorum} people`
  const self = selfApproval ? ', including the requester' : ''
  return `${people}${byKeysOf(terms)}${self}, within ${durationText(expiresInMs).replace(/ 0[hms]$/, '')}`
}

/** The groups that approvers need, as the end of a sentence. */
export function byKeysOf({ approvers }: Pick<ApprovalTerms, 'approvers'>): string {
  if (approvers.length === 0) return ''
  return `, with keys of ${approvers.map((group) => group.join(' or ')).join(', and ')}`
}

/** The two largest units: 2d 3h, 59m 10s. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const units = [
    `${Math.floor(seconds / 86_400)}d`,
    `${Math.floor(seconds / 3600) % 24}h`,
    `${Math.floor(seconds / 60) % 60}m`,
    `${seconds % 60}s`,
  ]
  const first = units.findIndex((unit) => !unit.startsWith('0'))
  return first < 0 ? '0s' : units.slice(first, first + 2).join(' ')
}
