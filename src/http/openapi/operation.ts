import { callersOf, ROUTES, type RouteId, type RouteRule } from '../../keys/routes.ts'
import type { RouteShape } from '../route.ts'
import type { failuresOf } from './failures.ts'
import { type componentsOf, EXAMPLE_REQUEST_ID, type Schema, sentence } from './schemas.ts'

/** Collections shared by all operations, each of which adds to them. */
export interface Shared {
  schemas: ReturnType<typeof componentsOf>
  failures: ReturnType<typeof failuresOf>
}

/** Tags by the first segment of a path, or by the facade. */
export const TAGS: Readonly<Record<string, string>> = {
  gate: 'Decide whether an action may run.',
  approvals: 'Held actions, for people to decide.',
  audit: 'The hash-chained trail.',
  decisions: 'Recorded decisions, explained.',
  evidence: 'Signed bundles that a third party verifies.',
  killswitch: 'The emergency stop at four levels.',
  keys: 'API keys of the tenant.',
  policies: 'The policy set in force.',
  events: 'Events as they happen.',
  session: 'Signed-in browsers.',
  opa: 'For clients of Open Policy Agent.',
  authzen: 'For clients of the Authorization API 1.0 of AuthZEN.',
  'access-request': 'For clients of the Access Request and Approval Profile of AuthZEN.',
  'claude-code': 'For hooks of Claude Code.',
  service: 'The service itself.',
}

const TEXT = { type: 'string' }

/** Builds the Operation Object of one route (OpenAPI 3.1, 4.8.10). */
export function operation(id: RouteId, shape: RouteShape, shared: Shared): Schema {
  const rule: RouteRule = ROUTES[id]
  const { body, bodyOptional = false, example } = shape
  const [, first = ''] = rule.path.split('/')
  return {
    operationId: id,
    summary: sentence(rule.summary),
    description: `Roles: ${callersOf(rule)}. Limit: ${rule.limit}.`,
    tags: [rule.facade ?? (Object.hasOwn(TAGS, first) ? first : 'service')],
    ...securityOf(rule),
    parameters: parameters(rule, shape, shared),
    ...(body !== undefined && {
      requestBody: {
        required: !bodyOptional,
        content: { 'application/json': { schema: shared.schemas.of(body), example: example.body } },
      },
    }),
    responses: { [shape.status ?? 200]: success(rule, shape, shared), ...shared.failures.of(id, shape) },
  }
}

/** Empty when it equals that of the whole document. */
function securityOf({ roles, tenantOptional, facade, signIn, elsewhere }: RouteRule): { security?: object[] } {
  if (elsewhere !== undefined) return { security: [{}, { key: [] }, { bearer: [] }] }
  if (roles === 'public') return { security: [] }
  const keyed = [{ key: [] }, { key: [], tenant: [] }]
  if (facade) return { security: [...keyed, { bearer: [] }, { bearer: [], tenant: [] }] }
  if (signIn) return { security: [...keyed, { signIn: [] }] }
  return tenantOptional ? { security: [...keyed, { session: [] }, { session: [], tenant: [] }] } : {}
}

function parameters(rule: RouteRule, shape: RouteShape, { schemas }: Shared): Schema[] {
  const { id, query } = shape
  const inPath = id
    ? [{ name: 'id', in: 'path', required: true, description: id.description, schema: TEXT, example: id.example }]
    : []
  const properties = (query === undefined ? {} : schemas.of(query).properties) as Record<string, Schema>
  const inQuery = Object.entries(properties).map(([name, { description = '', ...schema }]) => {
    return { name, in: 'query', description, schema }
  })
  const headers = [
    ...(rule.idempotent ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ...(shape.resumable ? [{ $ref: '#/components/parameters/LastEventId' }] : []),
  ]
  return [...inPath, ...inQuery, ...headers]
}

function success(rule: RouteRule, shape: RouteShape, { schemas }: Shared): Schema {
  const limits = {
    RateLimit: { $ref: '#/components/headers/RateLimit' },
    'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
  }
  return {
    description: sentence(rule.summary),
    headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' }, ...(rule.limit !== 'exempt' && limits) },
    content: shape.bare
      ? { [shape.bare]: { schema: schemas.of(shape.data), example: shape.example.data } }
      : { 'application/json': enveloped(shape, schemas) },
  }
}

function enveloped({ data, paged, example }: RouteShape, schemas: Shared['schemas']): Schema {
  const page = { limit: 50, offset: 0, total: 1 }
  return {
    schema: {
      type: 'object',
      required: ['success', 'data', ...(paged ? ['page'] : []), 'requestId'],
      properties: {
        success: { const: true, type: 'boolean' },
        data: schemas.of(data),
        ...(paged && { page: { $ref: '#/components/schemas/Page' } }),
        requestId: { type: 'string' },
      },
    },
    example: { success: true, data: example.data, ...(paged && { page }), requestId: EXAMPLE_REQUEST_ID },
  }
}
