import { POSITION_PATTERN } from '../../actions/events/position.ts'
import { USUAL_URL } from '../../base/variables.ts'
import { ROUTES, type RouteId, type RouteRule } from '../../keys/routes.ts'
import { IDEMPOTENCY_KEY_PATTERN } from '../dispatch.ts'
import type { RouteShape } from '../route.ts'
import { FAILURE, failuresOf } from './failures.ts'
import { operation, TAGS } from './operation.ts'
import { componentsOf } from './schemas.ts'

const DESCRIPTION = `Before an AI agent acts, it asks the gate, which answers \`allow\`, \`deny\` or \`require_approval\`.

A decision, deny included, is a 200. Any other status means that nothing was decided: take it as deny.
Every answer is an envelope: \`{success: true, data, requestId}\` or \`{success: false, error, message, requestId}\`; switch on \`error\`.
Unknown members of a request are refused, so that a misspelt one is never ignored. Answers may gain members.
Bodies are strict JSON: a member that comes twice, an integer outside ±(2^53−1) and a lone surrogate are refused.
Operations with the tags \`opa\`, \`authzen\`, \`access-request\` and \`claude-code\` answer and refuse as their protocols do: without an envelope, and they ignore unknown members.`

const SERVER = {
  url: USUAL_URL,
  description: 'The default address, beside the agent.',
}

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description })

const SECURITY_SCHEMES = {
  key: header('x-api-key', '`sk_live_…` or `sk_test_…`'),
  tenant: header('x-tenant-id', 'The tenant of the key.'),
  bearer: { type: 'http', scheme: 'bearer', description: 'The same key.' },
  session: header('x-session-token', 'Token of a signed-in browser, sent beside the cookie that sign-in has set.'),
  signIn: header('x-sign-in-code', 'Code of a sign-in link, in place of a key.'),
}

const HEADERS = {
  RequestId: { description: 'The id that the request sent, or a new one.', schema: { type: 'string' } },
  RateLimit: { description: 'The remaining requests, such as `"pro";r=598;t=0`.', schema: { type: 'string' } },
  RateLimitPolicy: { description: 'The limit, such as `"pro";q=600;w=60`.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'integer' } },
}

const PARAMETERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'For ten minutes the same request with the same value is carried out once.',
    schema: { type: 'string', pattern: IDEMPOTENCY_KEY_PATTERN },
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The id of the last received event: the stream continues after it. Without one, it starts now.',
    schema: { type: 'string', pattern: POSITION_PATTERN },
  },
}

const COUNT = { type: 'integer', minimum: 0 }
const PAGE = {
  type: 'object',
  description:
    'Position of the page: the next one begins at `offset + limit`. A page of large items ends early, and `limit` says so.',
  required: ['limit', 'offset', 'total'],
  properties: { limit: COUNT, offset: COUNT, total: COUNT },
}

/** OpenAPI 3.1 document of the whole interface, built from the shapes that parse requests. */
export function openApi(shapes: Readonly<Record<RouteId, RouteShape>>, version: string) {
  const schemas = componentsOf()
  const failures = failuresOf()
  const paths: Record<string, Record<string, object>> = {}
  for (const id of Object.keys(ROUTES) as RouteId[]) {
    const { method, path }: RouteRule = ROUTES[id]
    const template = path.replace(/:(\w+)/g, '{$1}')
    paths[template] = { ...paths[template], [method.toLowerCase()]: operation(id, shapes[id], { schemas, failures }) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'gate-sidecar',
      version,
      summary: 'Decides, before an AI agent acts, whether the action may run.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [SERVER],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [
      { key: [], tenant: [] },
      { session: [], tenant: [] },
    ],
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: PARAMETERS,
      headers: HEADERS,
      schemas: { ...schemas.schemas(), Failure: FAILURE, Page: PAGE },
      responses: failures.responses(),
      examples: failures.examples(),
    },
  }
}
