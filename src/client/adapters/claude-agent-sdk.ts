import { isObject } from '../objects.ts'
import type { GateSession } from '../session.ts'
import { argsOf, isRefusal, type WaitingOptions } from './adapter.ts'
import { type Running, start } from './running.ts'

/* Adapter for the Claude Agent SDK (TypeScript). It imports nothing from it, and declares the types that it needs. */

export interface HookOptions extends Omit<WaitingOptions, 'approvalTimeout'> {
  /** Time to wait for people when a call is held, in ms. @default 0, which refuses it */
  approvalTimeout?: number
  /** True lets an allow also answer the SDK's permission prompt. Its deny rules still hold. @default false */
  skipPrompts?: boolean
}

/** Answer of a hook: nothing, or a decision about the call. */
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
  /** In seconds. */
  timeout?: number
  onFailure?: 'block'
}

export type GateHooks = Record<(typeof EVENTS)[number], HookMatcher[]>

const EVENTS = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PostToolBatch', 'UserPromptSubmit'] as const

/** Time that a hook has beside the wait for people, in s. */
const HOOK_S = 60

/**
 * Hooks for the `hooks` of a query: no tool of the agent, its subagents and its MCP servers runs before the gate allows
 * the call. Use one session for the hooks of one query.
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
      // When several hooks set an input, the tool runs with that of the last one to answer.
      const pinned = { hookEventName: 'PreToolUse', updatedInput: own.args } as const
      const allowed = { permissionDecision: 'allow', permissionDecisionReason: 'Allowed by the gate.' } as const
      return { hookSpecificOutput: { ...pinned, ...(skipPrompts && own.isAllowed && allowed) } }
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
    else if (call === undefined || JSON.stringify(call.args) === JSON.stringify(argsOf(tool_input)))
      await call?.succeeded(tool_response)
    else {
      session.observe(String(tool_name), tool_response)
      await call.failed('It ran with arguments that were not checked: another hook or canUseTool changed them.')
    }
    return {}
  }

  /** Ends calls without a result, such as those that the user did not permit. */
  const afterAll: Hook = async (input) => {
    const { tool_calls } = input as Record<string, unknown>
    for (const { tool_use_id, tool_response } of Array.isArray(tool_calls) ? tool_calls.filter(isObject) : [])
      await ended(String(tool_use_id))?.failed(`It did not run: ${tool_response}`)
    return {}
  }

  const said: Hook = async (input) => {
    const { prompt, source } = input as Record<string, unknown>
    const text = String(prompt).trim()
    // Prompts of other agents and timers arrive here too, which some versions do not mark.
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
