import { ACTION_PATTERN } from '../base/glob.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { oneLine } from '../base/visible.ts'
import { observedSentence } from './observe.ts'

/** Identifies one tool call. */
export interface CallName {
  session: string
  toolUseId: string
}

export type HookEvent = AboutToCall | Called

export interface AboutToCall {
  kind: 'about to call'
  request: { action: string; context: JsonObject }
  /** Undefined when Claude Code gave it no name. */
  call: CallName | undefined
}

/** Members that are read from the event before a call. Their shape: PreToolUse in claude-code-event.ts. */
interface Calling {
  session_id: string
  tool_name: string
  tool_use_id?: string
  tool_input: JsonObject
  cwd: string
  permission_mode?: string
  agent_type?: string
  mcp_server?: JsonObject
}

export interface Called {
  kind: 'called'
  outcome: { status: 'succeeded' | 'failed'; durationMs?: number; error?: string }
  call: CallName | undefined
}

/** An action as `tool_name` gives it. */
const ACTION = new RegExp(ACTION_PATTERN)

/**
 * The event before a call in its usual form; undefined for any other, which only the shapes of claude-code-event.ts
 * can judge. Loading those takes longer than everything else that a hook does.
 */
export function usualEvent(payload: Json): AboutToCall | undefined {
  if (!isJsonObject(payload)) return undefined
  const { hook_event_name, session_id, tool_name, tool_use_id = session_id, tool_input, cwd } = payload
  const { permission_mode = '', agent_type = '', mcp_server = {} } = payload
  if (hook_event_name !== 'PreToolUse' || typeof tool_name !== 'string' || !ACTION.test(tool_name)) return undefined
  if (![session_id, tool_use_id, cwd].every((text) => typeof text === 'string' && text !== '')) return undefined
  if (![permission_mode, agent_type].every((text) => typeof text === 'string')) return undefined
  if (!isJsonObject(tool_input) || !isJsonObject(mcp_server)) return undefined
  // Each member of the shape is checked above.
  return aboutToCall(payload as unknown as Calling)
}

export function aboutToCall(hook: Calling): AboutToCall {
  return { kind: 'about to call', request: requestOf(hook), call: callName(hook.session_id, hook.tool_use_id) }
}

/**
 * The check request for a tool call. A retried call gives the same request, so that its approval is found: nothing
 * that changes with each try (`tool_use_id`, `prompt_id`, `agent_id`, paths of session files) may be in it.
 */
export function requestOf(hook: Calling): AboutToCall['request'] {
  const { tool_name, tool_input, session_id, cwd, permission_mode, agent_type, mcp_server } = hook
  return {
    action: tool_name,
    context: {
      args: tool_input,
      session: session_id,
      cwd,
      ...(permission_mode !== undefined && { permissionMode: permission_mode }),
      ...(agent_type !== undefined && { agentType: agent_type }),
      ...(mcp_server !== undefined && { mcpServer: identityOf(mcp_server) }),
    },
  }
}

/** Origin of an MCP tool. Servers choose their own names; `source` says who configured this one. */
function identityOf({ name, source }: JsonObject): JsonObject {
  return { ...(name !== undefined && { name }), ...(source !== undefined && { source }) }
}

export function callName(session: string, toolUseId: string | undefined): CallName | undefined {
  return toolUseId === undefined ? undefined : { session, toolUseId }
}

/** The parts of a decision that a hook uses. */
export interface Decided {
  decision: string
  /** Decision of the policies, where they are only observed. */
  observed?: string
  reason: string
  approvalId: string | null
}

/** Longest sentence sent to Claude Code, in characters; it cuts at 10,000. */
const MAX_SENTENCE = 2000

/** Explains to the model, on one line, why a call did not run. */
export function refusalSentence(action: string, { decision, reason, approvalId }: Decided): string {
  if (decision !== 'require_approval' || approvalId === null) return sentence(`${action} was not allowed: ${reason}`)
  return sentence(
    `${action} needs the approval of people, and waits for it as ${approvalId}: ${reason} ` +
      `Once it is approved, exactly the same call may be tried again; until then it stays blocked.`,
  )
}

/** Untrusted text on one line, shortened. */
export function sentence(text: string): string {
  return oneLine(text, MAX_SENTENCE)
}

/** `pass` leaves the call to Claude Code's own permissions; `grant` lets what policies allow run without asking the user. */
export const ON_ALLOW = ['pass', 'grant'] as const
export type OnAllow = (typeof ON_ALLOW)[number]

/** The answer of a hook that does not block. It grants nothing that only the observation of policies allows. */
export function allowOutput(onAllow: OnAllow, action: string, decided: Decided): JsonObject {
  const { observed = 'allow', reason } = decided
  const isGranted = onAllow === 'grant' && observed === 'allow'
  return { ...observedOutput(action, decided), ...(isGranted && permission('allow', sentence(reason))) }
}

/** Part of an answer that tells the user of a call which policies would not have allowed, if they were enforced. */
export function observedOutput(action: string, { observed, reason }: Decided): { systemMessage?: string } {
  const told = observedSentence(action, observed, reason)
  return told === undefined ? {} : { systemMessage: sentence(`gate-sidecar: ${told}`) }
}

/** The answer of a hook that blocks and cannot end with a code, since it speaks HTTP. */
export function denyOutput(reason: string): JsonObject {
  return permission('deny', sentence(reason))
}

function permission(permissionDecision: 'allow' | 'deny', permissionDecisionReason: string): JsonObject {
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason } }
}
