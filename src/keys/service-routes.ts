/** Public routes of the service. Part of ROUTES in roles.ts. */
export const SERVICE_ROUTES = {
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
    summary: 'the store answers, stops are on disk, policies are in force',
    roles: 'public',
    limit: 'exempt',
  },
  metrics: { method: 'GET', path: '/metrics', summary: 'figures for Prometheus', roles: 'public', limit: 'exempt' },
} as const
