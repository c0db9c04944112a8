import { type Static, Type } from '#typebox'
import { ACTION_PATTERN } from '../base/glob.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { parserOf } from '../base/schema.ts'
import { shortened } from '../base/shortened.ts'
import { oneLine } from '../base/visible.ts'
import { AnyJsonObject } from './request.ts'

/** Members that every event about a tool has. Further ones come with newer versions of Claude Code. */
const common = {
  session_id: Type.String({ minLength: 1 }),
  tool_name: Type.String({
    pattern: ACTION_PATTERN,
    description: 'The action: Bash, Edit, mcp__github__create_issue.',
  }),
  tool_use_id: Type.Optional(Type.String({ minLength: 1 })),
}
const Open = { additionalProperties: true }

/** What Claude Code tells a hook before it calls a tool. */
export const PreToolUse = Type.Object(
  {
    ...common,
    hook_event_name: Type.Unsafe<'PreToolUse'>({ type: 'string', enum: ['PreToolUse'] }),
    cwd: Type.String({ minLength: 1 }),
    permission_mode: Type.Optional(Type.String()),
    agent_type: Type.Optional(Type.String()),
    mcp_server: Type.Optional(AnyJsonObject),
    tool_input: AnyJsonObject,
  },
  Open,
)

/** The events after a tool, which decide nothing. */
const ENDED = ['PostToolUse', 'PostToolUseFailure'] as const

export type PreToolUse = Static<typeof PreToolUse>

const PostToolUse = Type.Object(
  {
    ...common,
    hook_event_name: Type.Unsafe<(typeof ENDED)[number]>({ type: 'string', enum: [...ENDED] }),
    duration_ms: Type.Optional(Type.Number({ minimum: 0 })),
    error: Type.Optional(Type.String()),
  },
  Open,
)

const parsePre = parserOf(PreToolUse)
const parsePost = parserOf(PostToolUse)
/** One call of a tool, told apart from all others. */
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

export interface Called {
  kind: 'called'
  outcome: { status: 'succeeded' | 'failed'; durationMs?: number; error?: string }
  call: CallName | undefined
}

/** @throws GateError `invalid_request` for any other event, and for one of another form */
export function readHookEvent(payload: Json): HookEvent {
  const name = isJsonObject(payload) ? payload.hook_event_name : undefined
  return ENDED.some((ended) => ended === name) ? called(payload) : aboutToCall(parsePre(payload))
}

function aboutToCall(hook: PreToolUse): AboutToCall {
  return { kind: 'about to call', request: requestOf(hook), call: callName(hook.session_id, hook.tool_use_id) }
}

/**
 * What is asked of the gate about a tool call. The same call is the same request whenever it is tried again, so that an approval is found:
 * nothing that is new at each try (`tool_use_id`, `prompt_id`, `agent_id`, paths of files of the session) may be in it.
 */
export function requestOf(hook: PreToolUse): AboutToCall['request'] {
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

/** Where a tool of MCP is from. Servers choose their names; `source` says who configured this one. */
function identityOf({ name, source }: JsonObject): JsonObject {
  return { ...(name !== undefined && { name }), ...(source !== undefined && { source }) }
}

function called(payload: Json): Called {
  const { hook_event_name, session_id, tool_use_id, duration_ms, error } = parsePost(payload)
  return {
    kind: 'called',
    outcome: {
      status: hook_event_name === 'PostToolUse' ? 'succeeded' : 'failed',
      ...(duration_ms !== undefined && { durationMs: Math.round(duration_ms) }),
      ...(error !== undefined && { error: firstLine(error) }),
    },
    call: callName(session_id, tool_use_id),
  }
}

function callName(session: string, toolUseId: string | undefined): CallName | undefined {
  return toolUseId === undefined ? undefined : { session, toolUseId }
}

/** `Exit code 1`. What follows is what the tool printed, which may be anything, secrets too. */
function firstLine(error: string): string {
  return shortened(error.split('\n', 1)[0] ?? '', 200)
}

/** What a decision is to a hook. */
export interface Decided {
  decision: string
  reason: string
  approvalId: string | null
}

/** Longest sentence that is told, in characters; Claude Code cuts at 10,000. */
const MAX_SENTENCE = 2000

/** Why a call did not run, on one line, for the model. */
export function refusalSentence(action: string, { decision, reason, approvalId }: Decided): string {
  if (decision !== 'require_approval' || approvalId === null) return sentence(`${action} was not allowed: ${reason}`)
  return sentence(
    `${action} needs the approval of people, and waits for it as ${approvalId}: ${reason} ` +
      `Once it is approved, exactly the same call may be tried again; until then it stays blocked.`,
  )
}

/** Foreign text on one line. */
export function sentence(text: string): string {
  return oneLine(text, MAX_SENTENCE)
}

/** `pass` leaves the call to Claude Code's own permissions; `grant` lets it run without asking the user. */
export const ON_ALLOW = ['pass', 'grant'] as const
export type OnAllow = (typeof ON_ALLOW)[number]

/** The answer of a hook that does not block. */
export function allowOutput(onAllow: OnAllow, reason: string): JsonObject {
  return onAllow === 'pass' ? {} : permission('allow', sentence(reason))
}

/** The answer of a hook that blocks and cannot end with a code, since it speaks HTTP. */
export function denyOutput(reason: string): JsonObject {
  return permission('deny', sentence(reason))
}

function permission(permissionDecision: 'allow' | 'deny', permissionDecisionReason: string): JsonObject {
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason } }
}
