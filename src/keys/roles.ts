/**
 * Who may do what: the one table of roles, read by authentication, dispatch, docs and tests.
 * `owner` may do everything in its tenant; `admin` is owner in any tenant that it names in
 * x-tenant-id, and alone may stop everything (L4).
 */
export const ROLES = ['agent', 'approver', 'auditor', 'operator', 'owner', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** Roles that hold every permission within a tenant. */
const ALL: readonly Role[] = ['owner', 'admin']

/**
 * How a route counts against the limits: `plan` against the tenant's plan, `status` against a bucket
 * of the key's own, `exempt` not at all (stopping and deciding must work when the plan is used up).
 */
export type Limit = 'plan' | 'status' | 'exempt'

export interface RouteRule {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  /** Roles besides owner and admin; `any` is every valid key, `public` needs no key at all. */
  roles: readonly Role[] | 'any' | 'public'
  limit: Limit
  /** Accepts Idempotency-Key. */
  idempotent?: true
  /** Answers without x-tenant-id. */
  tenantOptional?: true
}

export const ROUTES = {
  check: { method: 'POST', path: '/gate/check', roles: ['agent'], limit: 'plan', idempotent: true },
  risk: { method: 'POST', path: '/gate/risk', roles: ['agent'], limit: 'plan' },
  listApprovals: { method: 'GET', path: '/approvals', roles: ['approver', 'agent'], limit: 'status' },
  getApproval: { method: 'GET', path: '/approvals/:id', roles: ['approver', 'agent'], limit: 'status' },
  approve: { method: 'POST', path: '/approvals/:id/approve', roles: ['approver'], limit: 'exempt', idempotent: true },
  reject: { method: 'POST', path: '/approvals/:id/reject', roles: ['approver'], limit: 'exempt', idempotent: true },
  auditChain: { method: 'GET', path: '/audit/chain', roles: ['auditor'], limit: 'status' },
  auditVerify: { method: 'POST', path: '/audit/verify', roles: ['auditor'], limit: 'plan' },
  auditLog: { method: 'POST', path: '/audit/log', roles: ['agent'], limit: 'plan', idempotent: true },
  exportBundle: { method: 'GET', path: '/evidence/bundle/:id', roles: ['auditor'], limit: 'plan' },
  verifyBundle: { method: 'POST', path: '/evidence/verify', roles: 'any', limit: 'status', tenantOptional: true },
  killSwitchStatus: { method: 'GET', path: '/killswitch/status', roles: ['agent', 'operator'], limit: 'status' },
  trigger: { method: 'POST', path: '/killswitch/trigger', roles: ['operator'], limit: 'exempt', idempotent: true },
  recover: { method: 'POST', path: '/killswitch/recover', roles: ['operator'], limit: 'exempt', idempotent: true },
  listKeys: { method: 'GET', path: '/keys', roles: ['auditor'], limit: 'status' },
  createKey: { method: 'POST', path: '/keys', roles: [], limit: 'plan' },
  revokeKey: { method: 'DELETE', path: '/keys/:id', roles: [], limit: 'exempt' },
  listPolicies: { method: 'GET', path: '/policies', roles: ['auditor', 'operator', 'approver'], limit: 'status' },
  healthz: { method: 'GET', path: '/healthz', roles: 'public', limit: 'exempt' },
  readyz: { method: 'GET', path: '/readyz', roles: 'public', limit: 'exempt' },
} as const satisfies Record<string, RouteRule>

export type RouteId = keyof typeof ROUTES
/** Routes that need a key. */
export type KeyedRouteId = Exclude<RouteId, 'healthz' | 'readyz'>

export function mayCall(route: RouteRule, roles: readonly Role[]): boolean {
  const allowed = route.roles
  if (allowed === 'any' || allowed === 'public') return true
  return roles.some((role) => ALL.includes(role) || allowed.includes(role))
}

/** True for roles that see all approvals of the tenant, not only what they asked for themselves. */
export function seesAllApprovals(roles: readonly Role[]): boolean {
  return roles.some((role) => role === 'approver' || ALL.includes(role))
}

export function isAdmin(roles: readonly Role[]): boolean {
  return roles.includes('admin')
}
