import * as Type from '#typebox'
import { once } from '../base/memo.ts'
import type { KeyedRouteId, PublicRouteId, RouteId } from '../keys/routes.ts'
import { VERSION } from '../version.ts'
import { approvalRoutes } from './approvals/routes.ts'
import { auditRoutes } from './audit/routes.ts'
import { decisionRoutes } from './decisions/routes.ts'
import { eventRoutes } from './events/routes.ts'
import { evidenceRoutes } from './evidence/routes.ts'
import { authzenPublicRoutes, authzenRoutes } from './facades/authzen.ts'
import { claudeCodeRoutes } from './facades/claude-code.ts'
import { opaRoutes } from './facades/opa.ts'
import { gateRoutes } from './gate/routes.ts'
import { healthRoutes } from './health/routes.ts'
import { keyRoutes } from './keys/routes.ts'
import { killSwitchRoutes } from './killswitch/routes.ts'
import { openApi } from './openapi/document.ts'
import { outcomeRoutes } from './outcomes/routes.ts'
import { overviewRoutes } from './overview/routes.ts'
import { policyRoutes } from './policies/routes.ts'
import { replayRoutes } from './replay/routes.ts'
import { type PublicRoute, publicRoute, type Route, type RouteShape } from './route.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { usageRoutes } from './usage/routes.ts'

/** Handlers of all routes that need a key; a route without one does not compile. */
export const HANDLERS: Readonly<Record<KeyedRouteId, Route>> = {
  ...gateRoutes,
  ...outcomeRoutes,
  ...approvalRoutes,
  ...auditRoutes,
  ...evidenceRoutes,
  ...decisionRoutes,
  ...killSwitchRoutes,
  ...keyRoutes,
  ...policyRoutes,
  ...replayRoutes,
  ...usageRoutes,
  ...eventRoutes,
  ...sessionRoutes,
  ...overviewRoutes,
  ...opaRoutes,
  ...authzenRoutes,
  ...claudeCodeRoutes,
}

export const openApiDocument = once(() => openApi(shapes(), VERSION))

/** Handlers of the routes that need no key. */
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

/** Input and output of every route. */
function shapes(): Readonly<Record<RouteId, RouteShape>> {
  const entries = Object.entries({ ...HANDLERS, ...PUBLIC }).map(([id, { shape }]) => [id, shape])
  // The two tables together have every route.
  return Object.fromEntries(entries) as Record<RouteId, RouteShape>
}
