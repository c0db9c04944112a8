/**
 * Every failure a caller can tell apart, with its HTTP status. The code is the contract: clients
 * switch on it. A decision, deny included, is never an error.
 */
export const ERRORS = {
  invalid_request: 400,
  invalid_json: 400,
  unauthenticated: 401,
  forbidden: 403,
  tenant_mismatch: 403,
  approver_mismatch: 403,
  self_approval: 403,
  not_found: 404,
  method_not_allowed: 405,
  approval_not_pending: 409,
  approval_expired: 409,
  kill_switch_active: 409,
  kill_switch_inactive: 409,
  idempotency_conflict: 409,
  redacted: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  host_not_allowed: 421,
  rate_limited: 429,
  internal: 500,
  audit_unavailable: 503,
  overloaded: 503,
  not_ready: 503,
} as const

export type ErrorCode = keyof typeof ERRORS

/** Where in a request a fault is: `path` is a JSON pointer, empty for the whole. */
export interface ErrorDetail {
  path: string
  message: string
}

/** A failure with a code of the table above. `message` and `details` are shown to the caller: never a secret, never a path of the host. */
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
