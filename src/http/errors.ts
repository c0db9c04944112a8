import type { ServerResponse } from 'node:http'
import { ERRORS, GateError } from '../base/errors.ts'
import type { HttpLog } from './services.ts'

export const JSON_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const

/** The one writer of failures. What is no GateError is logged, and the caller learns nothing but the request id. */
export function writeError(response: ServerResponse, thrown: unknown, requestId: string, log: HttpLog): void {
  const error = toGateError(thrown)
  const status = ERRORS[error.code]
  if (status >= 500) log.error({ requestId, error: error.code, cause: describe(thrown) }, 'request failed')
  if (response.headersSent || response.destroyed) return
  const details = error.details.length > 0 ? { details: error.details } : {}
  const body = JSON.stringify({ success: false, error: error.code, message: error.message, ...details, requestId })
  response.writeHead(status, { ...JSON_HEADERS, 'x-request-id': requestId, ...error.headers })
  response.end(body)
}

function toGateError(thrown: unknown): GateError {
  if (thrown instanceof GateError) return thrown
  // Express marks a path that is no valid URI this way.
  if (thrown instanceof URIError) return new GateError('invalid_request', 'The path is not a valid URI.')
  return new GateError('internal', 'Something went wrong inside the service; nothing was decided.')
}

function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const cause = thrown.cause instanceof Error ? `; caused by ${thrown.cause.message}` : ''
  return thrown instanceof GateError ? `${thrown.message}${cause}` : `${thrown.stack}${cause}`
}
