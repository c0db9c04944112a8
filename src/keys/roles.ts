/**
 * The one table of roles, read by authentication, dispatch, docs and tests. `owner` may do everything in its tenant;
 * `admin` is owner in any tenant that it names in x-tenant-id, and alone may stop everything (L4).
 */
export const ROLES = ['agent', 'approver', 'auditor', 'operator', 'owner', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** Roles that hold every permission within a tenant. */
export const ALL: readonly Role[] = ['owner', 'admin']

/** Roles besides owner and admin that vote on approvals. */
export const VOTERS = ['approver'] as const satisfies readonly Role[]

export function mayVote(roles: readonly Role[]): boolean {
  return roles.some((role) => ALL.includes(role) || VOTERS.some((voter) => voter === role))
}

/** True for roles that see all approvals of the tenant, not only their own requests. */
export function seesAllApprovals(roles: readonly Role[]): boolean {
  return roles.some((role) => role === 'approver' || ALL.includes(role))
}

export function isAdmin(roles: readonly Role[]): boolean {
  return roles.includes('admin')
}
