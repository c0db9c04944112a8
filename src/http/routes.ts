import { Type } from '#typebox'
import { once } from '../base/memo.ts'
import type { KeyedRouteId, PublicRouteId, RouteId } from '../keys/roles.ts'
import { VERSION } from '../version.ts'
import { openApi } from './openapi/document.ts'
import { type PublicRoute, publicRoute, type Route, type RouteShape } from './route.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { auditRoutes } from './routes/audit.ts'
import { authzenPublicRoutes, authzenRoutes } from './routes/authzen.ts'
import { claudeCodeRoutes } from './routes/claude-code.ts'
import { decisionRoutes } from './routes/decisions.ts'
import { eventRoutes } from './routes/events.ts'
import { evidenceRoutes } from './routes/evidence.ts'
import { gateRoutes } from './routes/gate.ts'
import { healthRoutes } from './routes/health.ts'
import { keyRoutes } from './routes/keys.ts'
import { killSwitchRoutes } from './routes/killswitch.ts'
import { opaRoutes } from './routes/opa.ts'
import { overviewRoutes } from './routes/overview.ts'
import { policyRoutes } from './routes/policies.ts'
import { sessionRoutes } from './routes/session.ts'
import { usageRoutes } from './routes/usage.ts'

/** Every route that needs a key: a route of the table without a handler does not compile. */
export const HANDLERS: Readonly<Record<KeyedRouteId, Route>> = {
  ...gateRoutes,
  ...approvalRoutes,
  ...auditRoutes,
  ...evidenceRoutes,
  ...decisionRoutes,
  ...killSwitchRoutes,
  ...keyRoutes,
  ...policyRoutes,
  ...usageRoutes,
  ...eventRoutes,
  ...sessionRoutes,
  ...overviewRoutes,
  ...opaRoutes,
  ...authzenRoutes,
  ...claudeCodeRoutes,
}

/** The OpenAPI document of this version. */
export const openApiDocument = once(() => openApi(shapes(), VERSION))

/** The routes that need no key. */
export const PUBLIC: Readonly<Record<PublicRouteId, PublicRoute>> = {
  ...healthRoutes,
  ...authzenPublicRoutes,
  openapi: publicRoute({
    data: Type.Unsafe<object>({ type: 'object', additionalProperties: true }),
    bare: 'application/json',
    example: { data: { openapi: '3.1.0', info: { title: 'gate-sidecar', version: VERSION }, paths: {} } },
    answer: openApiDocument,
  }),
}

/** What every route takes and gives. */
export function shapes(): Readonly<Record<RouteId, RouteShape>> {
  const entries = Object.entries({ ...HANDLERS, ...PUBLIC }).map(([id, { shape }]) => [id, shape])
  // Made from the two tables, which together have every route.
  return Object.fromEntries(entries) as Record<RouteId, RouteShape>
}
