import { CONSOLE_ROUTES } from './console-routes.ts'
import { FACADE_ROUTES } from './facade-routes.ts'
import { ALL, type Role, VOTERS } from './roles.ts'

/**
 * The limit that a route counts against: the tenant's plan, the key's status or sign-in bucket, or none (`exempt`).
 * Stopping and deciding must work when the plan is used up.
 */
type Limit = 'plan' | 'status' | 'sign-in' | 'exempt'

/** A foreign protocol, by which a route takes keys, answers and refuses (http/facades). */
export type Facade = 'opa' | 'authzen' | 'access-request' | 'claude-code'

export interface RouteRule {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  /** Summary of the route, in a line of Markdown. */
  summary: string
  /** Roles besides owner and admin; `any` is every valid key, `public` needs no key at all. */
  roles: readonly Role[] | 'any' | 'public'
  limit: Limit
  /** Accepts Idempotency-Key. */
  idempotent?: true
  /** A POST without effects. */
  reads?: true
  /** Takes a sign-in code in place of a key. */
  signIn?: true
  /** Answers without x-tenant-id. */
  tenantOptional?: true
  /** For a public route: roles, besides owner and admin, of callers on another machine. Takes a bearer token too. */
  elsewhere?: readonly Role[]
  /** Hidden from our own clients; also takes the key as a bearer token, and its tenant when none is named. */
  facade?: Facade
}

export const ROUTES = {
  check: {
    method: 'POST',
    path: '/gate/check',
    summary: 'decides an action; a repeated request uses its approval, `?wait=25` waits for it, `?explain=1` says why',
    roles: ['agent'],
    limit: 'plan',
    idempotent: true,
  },
  risk: {
    method: 'POST',
    path: '/gate/risk',
    summary: 'score and factors, no decision',
    roles: ['agent'],
    limit: 'plan',
    reads: true,
  },
  outcome: {
    method: 'POST',
    path: '/gate/outcome',
    summary: 'reports the outcome of an action after its decision: `succeeded`, `failed`, `not_run`',
    roles: ['agent'],
    // One for each decision, which counted: outcomes are recorded also when the plan is used up.
    limit: 'exempt',
    idempotent: true,
  },
  listApprovals: {
    method: 'GET',
    path: '/approvals',
    summary: 'pending approvals; `status`, `limit`, `offset`',
    roles: ['approver', 'agent'],
    limit: 'status',
  },
  getApproval: {
    method: 'GET',
    path: '/approvals/:id',
    summary: 'one approval; `?wait=25` waits until it is decided',
    roles: ['approver', 'agent'],
    limit: 'status',
  },
  approve: {
    method: 'POST',
    path: '/approvals/:id/approve',
    summary: 'votes for a held request',
    roles: VOTERS,
    limit: 'exempt',
    idempotent: true,
  },
  reject: {
    method: 'POST',
    path: '/approvals/:id/reject',
    summary: 'ends a held request',
    roles: VOTERS,
    limit: 'exempt',
    idempotent: true,
  },
  cancelApproval: {
    method: 'POST',
    path: '/approvals/:id/cancel',
    summary: 'takes back an approval that was not used',
    roles: ['approver', 'agent'],
    limit: 'exempt',
  },
  auditChain: {
    method: 'GET',
    path: '/audit/chain',
    summary: 'entries, newest first; `limit`, `offset`, `before`, `order`, `eventType`, `from`, `to`',
    roles: ['auditor'],
    limit: 'status',
  },
  auditVerify: {
    method: 'POST',
    path: '/audit/verify',
    summary: 'recomputes the chain over a range of days',
    roles: ['auditor'],
    limit: 'plan',
    reads: true,
  },
  auditLog: {
    method: 'POST',
    path: '/audit/log',
    summary: "writes an entry of the caller's own",
    roles: ['agent'],
    limit: 'plan',
    idempotent: true,
  },
  getDecision: {
    method: 'GET',
    path: '/decisions/:id',
    summary: 'a recorded decision, explained by the policies that decided',
    roles: ['auditor'],
    limit: 'plan',
  },
  exportBundle: {
    method: 'GET',
    path: '/evidence/bundle/:id',
    summary: 'signed trust bundle of a decision',
    roles: ['auditor'],
    limit: 'plan',
  },
  verifyBundle: {
    method: 'POST',
    path: '/evidence/verify',
    summary: 'verifies a bundle or a policy change; needs no `x-tenant-id`',
    roles: 'any',
    limit: 'status',
    tenantOptional: true,
    reads: true,
  },
  killSwitchStatus: {
    method: 'GET',
    path: '/killswitch/status',
    summary: 'the strongest stop, and all of them',
    roles: ['agent', 'approver', 'auditor', 'operator'],
    limit: 'status',
  },
  trigger: {
    method: 'POST',
    path: '/killswitch/trigger',
    summary: 'stops an action (L1), a domain (L2), the tenant (L3), everything (L4, admin only)',
    roles: ['operator'],
    limit: 'exempt',
    idempotent: true,
  },
  recover: {
    method: 'POST',
    path: '/killswitch/recover',
    summary: 'ends a stop',
    roles: ['operator'],
    limit: 'exempt',
    idempotent: true,
  },
  listKeys: { method: 'GET', path: '/keys', summary: 'keys, without secrets', roles: ['auditor'], limit: 'status' },
  createKey: {
    method: 'POST',
    path: '/keys',
    summary: 'makes a key; its secret is in this answer only',
    roles: [],
    limit: 'plan',
  },
  revokeKey: { method: 'DELETE', path: '/keys/:id', summary: 'ends a key', roles: [], limit: 'exempt' },
  listPolicies: {
    method: 'GET',
    path: '/policies',
    summary: 'the policy set in force, and the faults of the newest files',
    roles: ['auditor', 'operator', 'approver'],
    limit: 'status',
  },
  validatePolicies: {
    method: 'POST',
    path: '/policies/validate',
    summary: 'every fault of policies that are sent as texts; opens no file and keeps nothing',
    roles: ['auditor', 'operator'],
    limit: 'status',
    reads: true,
  },
  reloadPolicies: {
    method: 'POST',
    path: '/policies/reload',
    summary: "reads the tenant's folder now, and answers with the result",
    roles: ['operator'],
    limit: 'status',
    reads: true,
  },
  events: {
    method: 'GET',
    path: '/events',
    summary: 'approvals, decisions, stops and policies as they come (server-sent events), by role; `Last-Event-ID`',
    roles: 'any',
    limit: 'status',
  },
  openapi: {
    method: 'GET',
    path: '/openapi.json',
    summary: 'this interface as an OpenAPI 3.1 document',
    roles: 'public',
    limit: 'exempt',
  },
  healthz: { method: 'GET', path: '/healthz', summary: 'the process answers', roles: 'public', limit: 'exempt' },
  readyz: {
    method: 'GET',
    path: '/readyz',
    summary: 'the store answers and takes writes, the trail is good, stops are on disk, policies are in force',
    roles: 'public',
    limit: 'exempt',
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'figures for Prometheus; from another machine with a key of an auditor or operator',
    roles: 'public',
    elsewhere: ['auditor', 'operator'],
    limit: 'exempt',
  },
  ...CONSOLE_ROUTES,
  ...FACADE_ROUTES,
} as const satisfies Record<string, RouteRule>

export type RouteId = keyof typeof ROUTES
/** Routes that need a key. */
export type KeyedRouteId = { [K in RouteId]: (typeof ROUTES)[K]['roles'] extends 'public' ? never : K }[RouteId]
export type PublicRouteId = Exclude<RouteId, KeyedRouteId>

/** The callers of a route, in words, for documents. */
export function callersOf({ roles }: RouteRule): string {
  if (roles === 'any') return 'every key'
  return roles === 'public' ? 'no key needed' : [...roles, ...ALL].join(', ')
}

export function mayCall(route: RouteRule, roles: readonly Role[]): boolean {
  const allowed = route.roles
  if (allowed === 'any' || allowed === 'public') return true
  return roles.some((role) => ALL.includes(role) || allowed.includes(role))
}
