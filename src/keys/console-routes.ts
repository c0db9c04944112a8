/** Routes that people need to look and to manage, as the web console does. Part of ROUTES in roles.ts. */
export const CONSOLE_ROUTES = {
  overview: {
    method: 'GET',
    path: '/overview',
    summary: 'decisions, denials and approvals of the last `hours`, the audit trail, and what is enforced now',
    roles: ['auditor', 'operator'],
    limit: 'status',
  },
  policySource: {
    method: 'GET',
    path: '/policies/source',
    summary: 'the texts of the policy set in force, and the faults of the newest files',
    roles: ['auditor', 'operator'],
    limit: 'status',
  },
  dryRun: {
    method: 'POST',
    path: '/policies/dry-run',
    summary: 'what would be decided, by the policies in force or by texts that are sent; records nothing',
    roles: ['auditor', 'operator'],
    limit: 'plan',
    reads: true,
  },
} as const
