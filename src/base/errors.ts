/**
 * Failures that a caller can tell apart, each with its HTTP status and meaning. The code is the contract: clients
 * switch on it. A decision, deny included, is never an error.
 */
export const ERRORS = {
  invalid_request: { status: 400, meaning: 'a field is missing, unknown or of the wrong form; `details` says which' },
  invalid_json: { status: 400, meaning: 'the body is not strict JSON in UTF-8, or has over 10,000 values' },
  not_requestable: { status: 400, meaning: 'an access request for a decision that no approval can change' },
  invalid_denial_binding: { status: 400, meaning: 'an access request that is not for what was denied to this caller' },
  unauthenticated: { status: 401, meaning: 'no key, an unknown, expired or revoked one, or no `x-tenant-id`' },
  forbidden: {
    status: 403,
    meaning: "the key's roles do not allow it, or this sidecar may not: it serves one tenant alone, or signs nothing",
  },
  origin_not_allowed: {
    status: 403,
    meaning: 'a signed-in browser sends the request from a page other than the console of this service',
  },
  tenant_mismatch: { status: 403, meaning: 'the key belongs to another tenant than the one named' },
  approver_mismatch: { status: 403, meaning: '`approverId` is not the identity of the key' },
  self_approval: { status: 403, meaning: 'the requester may not approve' },
  not_found: { status: 404, meaning: 'it does not exist, or not for this caller' },
  method_not_allowed: { status: 405, meaning: 'the path takes other methods; see `Allow`' },
  approval_not_pending: { status: 409, meaning: 'it has been decided already' },
  approval_expired: { status: 409, meaning: 'its deadline has passed' },
  kill_switch_active: { status: 409, meaning: 'a stop covers the action' },
  kill_switch_inactive: { status: 409, meaning: 'there is no such stop to end' },
  idempotency_conflict: { status: 409, meaning: 'the same Idempotency-Key came with another body' },
  outcome_conflict: { status: 409, meaning: 'another outcome of the decision is recorded' },
  expired_denial: { status: 410, meaning: 'an access request after the deadline of its approval' },
  archived: { status: 410, meaning: 'it was archived and deleted here; the message names the archive' },
  redacted: { status: 410, meaning: 'a part that was asked for has been erased' },
  payload_too_large: { status: 413, meaning: 'over 1 MiB (policies to validate: 4 MiB, bundles: 8 MiB)' },
  unsupported_media_type: { status: 415, meaning: 'not `application/json` in UTF-8' },
  host_not_allowed: { status: 421, meaning: "the Host header names none of this machine's names; see `allowedHosts`" },
  rate_limited: { status: 429, meaning: 'wait for `Retry-After` seconds' },
  internal: { status: 500, meaning: 'a fault of the service; nothing was decided' },
  audit_unavailable: { status: 503, meaning: 'the trail cannot be written or read; nothing was decided' },
  overloaded: { status: 503, meaning: 'too much at once, such as 16 MiB of bodies by one key; try again' },
  not_ready: { status: 503, meaning: '`/readyz` only: do not send requests yet' },
} as const satisfies Record<string, { status: number; meaning: string }>

export type ErrorCode = keyof typeof ERRORS

/** Location of a fault in a request: `path` is a JSON pointer, empty for the whole. */
export interface ErrorDetail {
  path: string
  message: string
}

/** Failure with a code of ERRORS. Callers see `message` and `details`: never a secret, never a path of the host. */
export class GateError extends Error {
  override readonly name = 'GateError'
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[]
  /** Response headers that belong to the failure, such as Retry-After. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: ErrorDetail[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.details = options.details ?? []
    this.headers = options.headers ?? {}
  }
}
