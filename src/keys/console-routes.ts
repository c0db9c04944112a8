/** Routes that people need to look and to manage, as the web console does. Part of ROUTES in roles.ts. */
export const CONSOLE_ROUTES = {
  rotateKey: {
    method: 'POST',
    path: '/keys/:id/rotate',
    summary: 'replaces a key by a new one of the same holder; its secret is in this answer only',
    roles: [],
    limit: 'plan',
  },
  usage: {
    method: 'GET',
    path: '/usage',
    summary: "the tenant's plan, and what is used of it",
    roles: ['auditor', 'operator'],
    limit: 'status',
  },
  previewStop: {
    method: 'POST',
    path: '/killswitch/preview',
    summary: 'what a stop would cover; stops nothing',
    roles: ['operator'],
    limit: 'status',
    reads: true,
  },
  killSwitchHistory: {
    method: 'GET',
    path: '/killswitch/history',
    summary: 'every stop, newest first, ended ones too; `limit`, `offset`',
    roles: ['operator', 'auditor'],
    limit: 'status',
  },
} as const
