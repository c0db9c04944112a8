/** Routes that people need to look and to manage, as the web console does. Part of ROUTES in roles.ts. */
export const CONSOLE_ROUTES = {
  listDecisions: {
    method: 'GET',
    path: '/decisions',
    summary: 'decisions, newest first, searched by what was asked, by whom and what came of it',
    roles: ['auditor'],
    limit: 'status',
  },
  decisionTimeline: {
    method: 'GET',
    path: '/decisions/:id/timeline',
    summary: 'what happened to an action, in order: held, voted on, approved, used, its outcome',
    roles: ['auditor'],
    limit: 'status',
  },
  approvalBackground: {
    method: 'GET',
    path: '/approvals/:id/background',
    summary: 'what helps to decide an approval: the text of its rule, what its agent did, whether this key may vote',
    roles: ['approver'],
    limit: 'status',
  },
  auditVerifyLive: {
    method: 'GET',
    path: '/audit/verify',
    summary: 'as the POST, told as it goes (server-sent events)',
    roles: ['auditor'],
    limit: 'plan',
  },
} as const
