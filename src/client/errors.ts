import type { Decision, Failure } from './api.ts'

/** Codes of the service, and those of what never reached it or came back broken. */
export type FailureCode = Failure['error'] | 'unreachable' | 'timeout' | 'malformed_answer'

export interface FailureDetail {
  /** JSON pointer into the request. */
  path: string
  message: string
}

/** Nothing was decided or done, as far as is known. To whoever asked for leave to act, that is a deny. */
export class GateError extends Error {
  override readonly name = 'GateError'
  readonly code: FailureCode
  /** Of the answer; undefined when there was none. */
  readonly status: number | undefined
  readonly details: readonly FailureDetail[]
  readonly requestId: string | undefined
  /** Milliseconds after which the service wants to be asked again. */
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

/** The action was not allowed, and did not run. Its message is a sentence for the agent. */
export class ActionRefused extends Error {
  override readonly name = 'ActionRefused'
  readonly action: string
  /** Why, without the name of the action. */
  readonly reason: string
  /** Undefined when the gate could not be asked, and `cause` says why. */
  readonly decision: Decision | undefined

  constructor(action: string, reason: string, decision: Decision | undefined, cause?: GateError) {
    super(`${action} was not allowed: ${reason}`, { cause })
    this.action = action
    this.reason = reason
    this.decision = decision
  }
}

/** Whether the same may go well a moment later. */
export function isPassing({ code, status }: GateError): boolean {
  return code === 'unreachable' || code === 'timeout' || status === 429 || status === 503
}
