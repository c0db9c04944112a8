import type { ApprovalTerms } from './set.ts'

/**
 * The terms that satisfy all of `terms`: largest quorum, shortest expiry, self-approval only if all
 * permit it, the groups of all, and only those paths unbound that all leave unbound.
 *
 * @throws TypeError when `terms` is empty: there is nothing that an approval would have to meet.
 */
export function combineTerms(terms: readonly ApprovalTerms[]): ApprovalTerms {
  const [first, ...rest] = terms
  if (first === undefined) throw new TypeError('no terms to combine')
  return rest.reduce(
    (sum, next) => ({
      quorum: Math.max(sum.quorum, next.quorum),
      expiresInMs: Math.min(sum.expiresInMs, next.expiresInMs),
      selfApproval: sum.selfApproval && next.selfApproval,
      approvers: uniteLists(sum.approvers, next.approvers),
      unbound: sum.unbound.filter((path) => next.unbound.includes(path)),
    }),
    first,
  )
}

function uniteLists(a: ApprovalTerms['approvers'], b: ApprovalTerms['approvers']): ApprovalTerms['approvers'] {
  const known = new Set(a.map((groups) => JSON.stringify(groups)))
  return [...a, ...b.filter((groups) => !known.has(JSON.stringify(groups)))]
}
