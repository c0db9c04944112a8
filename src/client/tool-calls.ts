import { ActionRefused } from './errors.ts'
import type { ActionRequest, Verdict } from './permit.ts'
import type { Origin } from './provenance.ts'

export type ToolArgs = Readonly<Record<string, unknown>>

/** Facts about a tool call for policies: `context` of its check. */
export interface ToolContext {
  [member: string]: unknown
  args: ToolArgs
  userRequest: string
  /** True when the agent has read text that others may have written. */
  tainted: boolean
  /** Origins of the values of each argument. */
  provenance: Record<string, Origin[]>
}

export type ToolRequest = ActionRequest & { context: ToolContext }

/** Request about a call, with the earlier verdict when it still holds. */
export interface Question {
  request: ToolRequest
  verdict?: Verdict
}

/** Limit of the remembered verdicts; the gate is asked again about older calls. */
const MAX_CALLS = 256

/** Calls by `callId`, until they run, are refused or answered. */
export class AskedCalls {
  readonly #calls = new Map<string, Required<Question>>()

  keep(callId: string, asked: Required<Question>): void {
    this.#calls.delete(callId)
    this.#calls.set(callId, asked)
    const [oldest] = this.#calls.keys()
    if (this.#calls.size > MAX_CALLS && oldest !== undefined) this.#calls.delete(oldest)
  }

  forget(callId: string): void {
    this.#calls.delete(callId)
  }

  /**
   * Request about a call. People decide about the request that they saw, so what was read later cannot have led to it.
   * Without their decision, what was read since counts.
   */
  question(callId: string | undefined, request: ToolRequest): Question {
    const asked = callId === undefined ? undefined : this.#calls.get(callId)
    if (asked === undefined || !isSameCall(asked.request, request)) return { request }
    const { verdict } = asked
    if (isOfPeople(verdict) || isSameSession(asked.request, request)) return asked
    // No longer valid, so `guard` records it as unused and asks again.
    return verdict instanceof ActionRefused ? { request } : { request, verdict: { ...verdict, isValid: () => false } }
  }
}

/** True while people have to decide; they may have done so by now. */
export function isHeld(verdict: Verdict): boolean {
  return verdict.decision?.decision === 'require_approval'
}

/** True when people have to decide, or have decided. */
function isOfPeople(verdict: Verdict): boolean {
  return isHeld(verdict) || verdict.decision?.decidedBy === 'approval'
}

function isSameCall(one: ToolRequest, other: ToolRequest): boolean {
  const textOf = ({ action, context }: ToolRequest): string => JSON.stringify([action, context.args])
  return textOf(one) === textOf(other)
}

/** True when nothing was said or read since that changes the facts about the call. */
function isSameSession(one: ToolRequest, other: ToolRequest): boolean {
  const textOf = ({ context: { userRequest, tainted, provenance } }: ToolRequest): string =>
    JSON.stringify([userRequest, tainted, provenance])
  return textOf(one) === textOf(other)
}
