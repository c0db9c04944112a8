import type { ServerResponse } from 'node:http'
import { ERRORS, GateError } from '../base/errors.ts'
import type { Facade } from '../keys/routes.ts'
import { inSource } from '../stack.ts'
import { failureIn } from './facades/failures.ts'
import { writeEnvelope, writeText } from './reply.ts'
import type { Services } from './services.ts'

/**
 * Writes and counts all failures. Any error but a GateError is logged, and the caller learns only the request id.
 *
 * @param facade protocol of the route, when it is not ours
 */
export function writeError(
  response: ServerResponse,
  thrown: unknown,
  requestId: string,
  { log, errors }: Pick<Services, 'log' | 'errors'>,
  facade?: Facade,
): void {
  const error = toGateError(thrown)
  const status = ERRORS[error.code].status
  errors.count(error.code)
  if (status >= 500) log.error({ requestId, error: error.code, cause: describe(thrown) }, 'request failed')
  if (facade !== undefined) {
    const { status: told, type, text, headers } = failureIn(facade, error)
    writeText(response, told, { type, text }, requestId, headers)
    return
  }
  const details = error.details.length > 0 ? { details: error.details } : {}
  const { code, message, headers } = error
  writeEnvelope(response, status, { success: false, error: code, message, ...details, requestId }, headers)
}

/** Failure for the caller: an unknown error becomes `internal`. */
export function toGateError(thrown: unknown): GateError {
  if (thrown instanceof GateError) return thrown
  // Express throws this for a path that is not a valid URI.
  if (thrown instanceof URIError) return new GateError('invalid_request', 'The path is not a valid URI.')
  return new GateError('internal', 'Something went wrong inside the service; nothing was decided.')
}

function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const cause = thrown.cause instanceof Error ? `; caused by ${thrown.cause.message}` : ''
  return thrown instanceof GateError ? `${thrown.message}${cause}` : `${inSource(String(thrown.stack))}${cause}`
}
