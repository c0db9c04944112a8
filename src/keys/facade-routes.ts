/**
 * Routes in foreign protocols, for tools that speak these already. Each maps onto a route of ours: same check, same
 * approvals, same trail. Part of ROUTES in routes.ts.
 */
export const FACADE_ROUTES = {
  opaDecision: {
    method: 'POST',
    path: '/v1/data/gate/decision',
    summary: 'decides a tool call, for clients of the Data API of Open Policy Agent',
    roles: ['agent'],
    limit: 'plan',
    facade: 'opa',
  },
  opaAllow: {
    method: 'POST',
    path: '/v1/data/gate/allow',
    summary: 'the same decision as `true` or `false`, for clients of OPA that ask whether the result is true',
    roles: ['agent'],
    limit: 'plan',
    facade: 'opa',
  },
  evaluation: {
    method: 'POST',
    path: '/access/v1/evaluation',
    summary: 'decides an access, for clients of AuthZEN',
    roles: ['agent'],
    limit: 'plan',
    facade: 'authzen',
  },
  evaluations: {
    method: 'POST',
    path: '/access/v1/evaluations',
    summary: 'decides up to 100 accesses, for clients of AuthZEN; each counts as a request',
    roles: ['agent'],
    limit: 'plan',
    facade: 'authzen',
  },
  authzenConfiguration: {
    method: 'GET',
    path: '/.well-known/authzen-configuration',
    summary: 'the endpoints for clients of AuthZEN',
    roles: 'public',
    limit: 'exempt',
    facade: 'authzen',
  },
  requestAccess: {
    method: 'POST',
    path: '/access/v1/requests',
    summary: 'the approval that an evaluation asked for, as a task of the access request profile of AuthZEN',
    roles: ['agent'],
    limit: 'status',
    reads: true,
    facade: 'access-request',
  },
  accessRequest: {
    method: 'GET',
    path: '/access/v1/requests/:id',
    summary: 'the status of such a task',
    roles: ['agent'],
    limit: 'status',
    facade: 'access-request',
  },
  claudeCodeHook: {
    method: 'POST',
    path: '/hooks/claude-code',
    summary: 'decides a tool call, for the hook PreToolUse of Claude Code; waits 25 s, and always answers 200',
    roles: ['agent'],
    limit: 'plan',
    facade: 'claude-code',
  },
} as const
