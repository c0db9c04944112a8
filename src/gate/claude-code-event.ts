import * as Type from '#typebox'
import { ACTION_PATTERN } from '../base/glob.ts'
import { isJsonObject, type Json } from '../base/json.ts'
import { parserOf } from '../base/schema.ts'
import { shortened } from '../base/shortened.ts'
import { aboutToCall, type Called, callName, type HookEvent } from './claude-code.ts'
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

/** The event that Claude Code sends to a hook before it calls a tool. */
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

export type PreToolUse = Type.Static<typeof PreToolUse>

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

/** @throws GateError `invalid_request` for any other event, and for one of another form */
export function readHookEvent(payload: Json): HookEvent {
  const name = isJsonObject(payload) ? payload.hook_event_name : undefined
  return ENDED.some((ended) => ended === name) ? called(payload) : aboutToCall(parsePre(payload))
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

/** `Exit code 1`. The lines after it are output of the tool, which may hold anything, secrets too. */
function firstLine(error: string): string {
  return shortened(error.split('\n', 1)[0] ?? '', 200)
}
