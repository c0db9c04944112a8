import { ERRORS, type ErrorCode, GateError } from '../../base/errors.ts'
import { type Facade, ROUTES, type RouteId, type RouteRule } from '../../keys/routes.ts'
import { FORMS, statusOf } from '../facades/failures.ts'
import type { RouteShape } from '../route.ts'
import { EXAMPLE_REQUEST_ID, type Schema, sentence } from './schemas.ts'

const CODES = Object.keys(ERRORS) as ErrorCode[]

/** Body of every failure. */
export const FAILURE = {
  type: 'object',
  required: ['success', 'error', 'message', 'requestId'],
  properties: {
    success: { const: false, type: 'boolean' },
    error: { type: 'string', enum: CODES, description: 'Error code that clients switch on.' },
    message: { type: 'string', description: 'A sentence for people.' },
    details: {
      type: 'array',
      description: 'Faults of the request, each with its place.',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string', description: 'A JSON pointer.' }, message: { type: 'string' } },
      },
    },
    requestId: { type: 'string' },
  },
}

/** Collects failures that routes share, so that each is declared once. */
export function failuresOf() {
  const named = new Map<string, Schema>()
  const used = new Set<ErrorCode>()
  return {
    /** Failures of the route, by status. */
    of(id: RouteId, shape: RouteShape): Schema {
      const { facade }: RouteRule = ROUTES[id]
      // A failure with status 200 is declared as an answer.
      const codes = codesOf(id, shape).filter((code) => statusOf(code, facade) !== 200)
      const statuses = [...new Set(codes.map((code) => statusOf(code, facade)))]
      return Object.fromEntries(
        statuses.map((status) => {
          const same = codes.filter((code) => statusOf(code, facade) === status)
          const name = [...(facade ? [facade] : []), ...same].join('.')
          if (!named.has(name)) named.set(name, failure(same, facade))
          if (facade === undefined) for (const code of same) used.add(code)
          return [status, { $ref: `#/components/responses/${name}` }]
        }),
      )
    },
    responses: (): Schema => Object.fromEntries(named),
    /** One example of each code that was used. */
    examples: (): Schema => Object.fromEntries(Array.from(used, (code) => [code, example(code)])),
  }
}

/** Codes that the route may answer: those of its kind, and its own. */
function codesOf(id: RouteId, { body, errors = [] }: RouteShape): ErrorCode[] {
  const rule: RouteRule = ROUTES[id]
  const codes = new Set<ErrorCode>(['host_not_allowed', 'internal', ...errors])
  const add = (when: boolean, ...more: ErrorCode[]): void => {
    if (when) for (const code of more) codes.add(code)
  }
  const keyed = rule.roles !== 'public'
  add(keyed, 'invalid_request', 'unauthenticated', 'tenant_mismatch', 'rate_limited', 'audit_unavailable', 'overloaded')
  // An admin may name a tenant that does not exist.
  add(keyed, 'not_found')
  // Facades accept no sessions.
  add(keyed && rule.facade === undefined, 'origin_not_allowed')
  add(keyed && rule.roles !== 'any', 'forbidden')
  add(body !== undefined, 'invalid_json', 'unsupported_media_type', 'payload_too_large')
  add(rule.idempotent === true, 'idempotency_conflict')
  return CODES.filter((code) => codes.has(code))
}

function example(error: ErrorCode): Schema {
  const { meaning } = ERRORS[error]
  const value = { success: false, error, message: sentence(meaning), requestId: EXAMPLE_REQUEST_ID }
  return { summary: meaning, value }
}

/** Joins codes of one status in one response. */
function failure(codes: readonly ErrorCode[], facade: Facade | undefined): Schema {
  const retryAfter = codes.includes('rate_limited') && { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('; '),
    headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' }, ...retryAfter },
    content: facade === undefined ? { 'application/json': enveloped(codes) } : inProtocol(codes, facade),
  }
}

function enveloped(codes: readonly ErrorCode[]): Schema {
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])
  return { schema: { $ref: '#/components/schemas/Failure' }, examples: Object.fromEntries(examples) }
}

function inProtocol(codes: readonly ErrorCode[], facade: Facade): Schema {
  const { mediaType, schema, body } = FORMS[facade]
  const examples = codes.map((code) => {
    const { meaning } = ERRORS[code]
    const value = body(new GateError(code, sentence(meaning)), statusOf(code, facade))
    return [code, { summary: meaning, value }]
  })
  return { [mediaType]: { schema, examples: Object.fromEntries(examples) } }
}
