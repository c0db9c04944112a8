import { isObject } from '../objects.ts'
import type { GateSession, ToolArgs } from '../session.ts'
import { argsOf, isRefusal, type WaitingOptions } from './adapter.ts'
import { type Running, start } from './running.ts'

/* For the Claude Agent SDK (TypeScript). Nothing is imported from it: what is needed of its types is written here. */

export interface HookOptions extends Omit<WaitingOptions, 'approvalTimeout'> {
  /** Milliseconds to wait for the decision of people, when a call is held. @default 0, which refuses it */
  approvalTimeout?: number
  /** Whether an allow of the gate also answers the permission prompt of the SDK. Its deny rules still hold. @default false */
  skipPrompts?: boolean
}

/** What a hook answers: nothing, or what becomes of the call. */
export interface HookAnswer {
  hookSpecificOutput?: {
    hookEventName: 'PreToolUse'
    permissionDecision?: 'allow' | 'deny'
    permissionDecisionReason?: string
    updatedInput?: Record<string, unknown>
  }
}

export type Hook = (
  input: object,
  toolUseId: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookAnswer>

export interface HookMatcher {
  hooks: Hook[]
  /** Seconds. */
  timeout?: number
  onFailure?: 'block'
}

export type GateHooks = Record<(typeof EVENTS)[number], HookMatcher[]>

const EVENTS = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PostToolBatch', 'UserPromptSubmit'] as const

/** Beside the wait for people, a hook has so many seconds. */
const HOOK_S = 60

/**
 * `hooks` of a query: no tool of the agent, its subagents and its MCP servers runs before the gate allows the call. The hooks of one
 * query belong to one session.
 */
export function gateHooks(session: GateSession, options: HookOptions = {}): GateHooks {
  const { approvalTimeout = 0, skipPrompts = false, ...waiting } = options
  const running = new Map<string, Running>()

  const before: Hook = async (input, toolUseId, { signal }) => {
    const { tool_name, tool_input, tool_use_id } = input as Record<string, unknown>
    const callId = toolUseId ?? String(tool_use_id)
    const call = { ...waiting, approvalTimeout, callId, signal }
    try {
      const own = await start(session, String(tool_name), argsOf(tool_input), call)
      running.set(callId, own)
      // Where several hooks give an input, that of the last one to answer runs.
      const pinned = { hookEventName: 'PreToolUse', updatedInput: own.args } as const
      const allowed = { permissionDecision: 'allow', permissionDecisionReason: 'Allowed by the gate.' } as const
      return { hookSpecificOutput: { ...pinned, ...(skipPrompts && allowed) } }
    } catch (error) {
      const permissionDecisionReason = isRefusal(error) ? error.message : `${tool_name} was not allowed: ${error}`
      return {
        hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason },
      }
    }
  }

  const ended = (callId: string): Running | undefined => {
    const call = running.get(callId)
    running.delete(callId)
    return call
  }

  const after: Hook = async (input, toolUseId) => {
    const { tool_name, tool_input, tool_use_id, tool_response, error } = input as Record<string, unknown>
    const call = ended(toolUseId ?? String(tool_use_id))
    if (!('tool_response' in input)) await call?.failed(error)
    else if (call === undefined || isSame(call.args, argsOf(tool_input))) await call?.succeeded(tool_response)
    else {
      session.observe(String(tool_name), tool_response)
      await call.failed('It ran with other arguments than were checked, which another hook or canUseTool gave it.')
    }
    return {}
  }

  /** Of calls that ended without a word, as where their user did not permit them. */
  const afterAll: Hook = async (input) => {
    const { tool_calls } = input as Record<string, unknown>
    for (const { tool_use_id, tool_response } of Array.isArray(tool_calls) ? tool_calls.filter(isObject) : [])
      await ended(String(tool_use_id))?.failed(`It did not run: ${tool_response}`)
    return {}
  }

  const said: Hook = async (input) => {
    const { prompt, source } = input as Record<string, unknown>
    const text = String(prompt).trim()
    // What other agents and timers write comes as a prompt too, and from some versions without saying so.
    if (source === 'sdk' || source === 'user') session.userSays(text)
    else if (!session.userRequest.includes(text)) session.observe('UserPromptSubmit', text)
    return {}
  }

  return {
    PreToolUse: [{ hooks: [before], timeout: Math.ceil(approvalTimeout / 1000) + HOOK_S, onFailure: 'block' }],
    PostToolUse: [{ hooks: [after] }],
    PostToolUseFailure: [{ hooks: [after] }],
    PostToolBatch: [{ hooks: [afterAll] }],
    UserPromptSubmit: [{ hooks: [said] }],
  }
}

function isSame(one: ToolArgs, other: ToolArgs): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
