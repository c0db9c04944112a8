/** Where the web console is served. */
export const CONSOLE_PATH = '/console'

/** Routes that people need to look and to manage, as the web console does. Part of ROUTES in roles.ts. */
export const CONSOLE_ROUTES = {
  openSession: {
    method: 'POST',
    path: '/session',
    summary: 'signs a browser in, with a key or the code of a sign-in link (`x-sign-in-code`)',
    roles: 'any',
    limit: 'status',
    tenantOptional: true,
    signIn: true,
  },
  getSession: {
    method: 'GET',
    path: '/session',
    summary: 'who asks, for which tenants, and which routes that one may call',
    roles: 'any',
    limit: 'status',
    tenantOptional: true,
  },
  endSession: {
    method: 'DELETE',
    path: '/session',
    summary: 'signs a browser out',
    roles: 'any',
    limit: 'exempt',
    tenantOptional: true,
  },
  signInCode: {
    method: 'POST',
    path: '/session/code',
    summary: 'a link by which a browser is signed in with this key, once within five minutes',
    roles: 'any',
    limit: 'status',
    tenantOptional: true,
  },
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
