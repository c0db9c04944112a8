import { ERRORS, type ErrorCode, type GateError } from '../../base/errors.ts'
import { denyOutput } from '../../gate/claude-code.ts'
import type { Facade } from '../../keys/routes.ts'

/** Form of a failure in the protocol of a facade. Each includes our own code, for people who investigate. */
interface Form {
  mediaType: string
  /** Schema of the body in the OpenAPI document. */
  schema: object
  /** Text, or a value to send as JSON. */
  body(error: GateError, status: number): unknown
}

const TEXT = { type: 'string' }

/** Prefix of the problem types of the access request profile. */
const PROBLEM = 'urn:openid:authzen:access-request:error:'
const PROBLEMS: Partial<Record<ErrorCode, string>> = {
  not_requestable: 'not_requestable',
  invalid_denial_binding: 'invalid_denial_binding',
  expired_denial: 'expired_denial',
  not_found: 'unknown_task',
}

export const FORMS: Readonly<Record<Facade, Form>> = {
  opa: {
    mediaType: 'application/json',
    schema: {
      type: 'object',
      required: ['code', 'message', 'errors'],
      properties: {
        code: { type: 'string', description: 'As of Open Policy Agent.' },
        message: { type: 'string', description: 'A sentence for people.' },
        errors: {
          type: 'array',
          items: { type: 'object', required: ['code', 'message'], properties: { code: TEXT, message: TEXT } },
        },
      },
    },
    body: ({ code, message }, status) => ({ code: opaCode(status), message, errors: [{ code, message }] }),
  },
  // The standard has "an error message string" as the body.
  authzen: { mediaType: 'text/plain', schema: TEXT, body: ({ code, message }) => `${code}: ${message}` },
  'access-request': {
    mediaType: 'application/problem+json',
    schema: {
      type: 'object',
      required: ['status', 'detail', 'code'],
      properties: {
        type: { type: 'string', description: 'Absent where the status says all.' },
        title: TEXT,
        status: { type: 'integer' },
        detail: TEXT,
        code: TEXT,
      },
    },
    body({ code, message }, status) {
      const problem = PROBLEMS[code]
      const named = problem !== undefined && { type: `${PROBLEM}${problem}`, title: ERRORS[code].meaning }
      return { ...named, status, detail: message, code }
    },
  },
  // Answers say whether a tool may run; without a decision it may not.
  'claude-code': {
    mediaType: 'application/json',
    schema: { type: 'object' },
    body: ({ code, message }) => denyOutput(`The gate could not decide (${code}): ${message}`),
  },
}

/**
 * Status of a failure: ours, unless AuthZEN defines one.
 * Claude Code runs a tool after a failure status, so it never gets one; its hooks are all POST.
 */
export function statusOf(code: ErrorCode, facade?: Facade): number {
  if (facade === 'claude-code' && code !== 'method_not_allowed') return 200
  return facade === 'authzen' && code === 'unsupported_media_type' ? 400 : ERRORS[code].status
}

export function failureIn(facade: Facade, error: GateError) {
  const { mediaType, body } = FORMS[facade]
  const status = statusOf(error.code, facade)
  const content = body(error, status)
  const challenge: Record<string, string> = status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}
  return {
    status,
    type: `${mediaType}; charset=utf-8`,
    text: typeof content === 'string' ? content : JSON.stringify(content),
    headers: { ...challenge, ...error.headers },
  }
}

function opaCode(status: number): string {
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 404) return 'resource_not_found'
  if (status === 405) return 'invalid_operation'
  return status < 500 && status !== 429 ? 'invalid_parameter' : 'internal_error'
}
