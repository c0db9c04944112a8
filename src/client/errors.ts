import type { Decision, Failure } from './api.ts'

/** Codes of the service, and of requests without a usable answer. */
export type FailureCode = Failure['error'] | 'unreachable' | 'timeout' | 'circuit_open' | 'malformed_answer'

export interface FailureDetail {
  /** JSON pointer into the request. */
  path: string
  message: string
}

/** Nothing was decided or done, as far as is known. For a caller that asks whether it may act, this is a deny. */
export class GateError extends Error {
  override readonly name = 'GateError'
  readonly code: FailureCode
  /** Status of the answer; undefined when there was none. */
  readonly status: number | undefined
  readonly details: readonly FailureDetail[]
  readonly requestId: string | undefined
  /** Time after which a retry makes sense, in ms. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: FailureCode,
    message: string,
    more: {
      status?: number
      details?: readonly FailureDetail[]
      requestId?: string
      retryAfterMs?: number
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: more.cause })
    this.code = code
    this.status = more.status
    this.details = more.details ?? []
    this.requestId = more.requestId
    this.retryAfterMs = more.retryAfterMs
  }
}

/** The action was not allowed and did not run. The message is a sentence for the agent. */
export class ActionRefused extends Error {
  override readonly name = 'ActionRefused'
  readonly action: string
  /** Reason, without the name of the action. */
  readonly reason: string
  /** Undefined when the gate could not be asked; `cause` has the reason. */
  readonly decision: Decision | undefined
  /** Error of the gate; undefined when it decided. */
  override readonly cause: GateError | undefined

  constructor(action: string, reason: string, decision: Decision | undefined, cause?: GateError) {
    super(`${action} was not allowed: ${reason}`)
    this.action = action
    this.reason = reason
    this.decision = decision
    this.cause = cause
  }
}

/** True when a retry may succeed. */
export function isPassing({ code, status }: GateError): boolean {
  return PASSING.has(code) || status === 429 || status === 503
}

const PASSING: ReadonlySet<FailureCode> = new Set(['unreachable', 'timeout', 'circuit_open'])
