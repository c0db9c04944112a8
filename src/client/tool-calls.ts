import type { ActionRequest, Verdict } from './permit.ts'
import type { Origin } from './provenance.ts'

export type ToolArgs = Readonly<Record<string, unknown>>

/** What policies are told of a tool call: `context` of its check. */
export interface ToolContext {
  [member: string]: unknown
  args: ToolArgs
  userRequest: string
  /** The agent has read text that others can have written. */
  tainted: boolean
  /** For each argument, where its values are from. */
  provenance: Record<string, Origin[]>
}

export type ToolRequest = ActionRequest & { context: ToolContext }

/** A call that the gate was asked about before it is run. */
export interface Asked {
  request: ToolRequest
  verdict: Verdict
}

/** What is asked about a call now, and what was said of that before. */
export interface Question {
  request: ToolRequest
  verdict?: Verdict
}

/** Of so many calls is kept what the gate said; it is asked again about older ones. */
const MAX_CALLS = 256

/** Calls by `callId`, until they run, are refused or answered. */
export class AskedCalls {
  readonly #calls = new Map<string, Asked>()

  keep(callId: string, asked: Asked): void {
    this.#calls.delete(callId)
    this.#calls.set(callId, asked)
    const [oldest] = this.#calls.keys()
    if (this.#calls.size > MAX_CALLS && oldest !== undefined) this.#calls.delete(oldest)
  }

  forget(callId: string): void {
    this.#calls.delete(callId)
  }

  /**
   * What is asked about a call. People decide about what they were shown, to which nothing can have led that was read since; for
   * anything else than their decision, what was read since counts.
   */
  question(callId: string | undefined, request: ToolRequest): Question {
    const asked = callId === undefined ? undefined : this.#calls.get(callId)
    if (asked === undefined || !isSameCall(asked.request, request)) return { request }
    const { verdict } = asked
    if (isOfPeople(verdict) || isSameSession(asked.request, request)) return asked
    // No longer valid, `guard` records that it was not used, and asks again.
    return verdict.allowed ? { request, verdict: { ...verdict, isValid: () => false } } : { request }
  }
}

/** Whether people are to decide, who may have by now. */
export function isHeld(verdict: Verdict): boolean {
  return !verdict.allowed && verdict.decision?.decision === 'require_approval'
}

/** Whether people are to decide, or have. */
function isOfPeople(verdict: Verdict): boolean {
  return isHeld(verdict) || verdict.decision?.decidedBy === 'approval'
}

function isSameCall(one: ToolRequest, other: ToolRequest): boolean {
  const textOf = ({ action, context }: ToolRequest): string => JSON.stringify([action, context.args])
  return textOf(one) === textOf(other)
}

/** Whether nothing was said or read since that tells more of the call. */
function isSameSession(one: ToolRequest, other: ToolRequest): boolean {
  const textOf = ({ context: { userRequest, tainted, provenance } }: ToolRequest): string =>
    JSON.stringify([userRequest, tainted, provenance])
  return textOf(one) === textOf(other)
}
