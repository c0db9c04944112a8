import { Type } from '#typebox'
import { oneOf } from '../common-shapes.ts'

/** Part of an answer that Claude Code reads. */
export const HookAnswer = Type.Object(
  {
    hookSpecificOutput: Type.Optional(
      Type.Object({
        hookEventName: oneOf(['PreToolUse'], 'The hook.'),
        permissionDecision: oneOf(['deny'], 'The tool does not run.'),
        permissionDecisionReason: Type.String({ description: 'A sentence for the model.' }),
      }),
    ),
  },
  { description: 'Empty: the gate allows the call, and the permissions of Claude Code go on.' },
)

export const hookExample = {
  body: {
    hook_event_name: 'PreToolUse' as const,
    session_id: 'abc123',
    cwd: '/home/user/my-project',
    permission_mode: 'default',
    tool_name: 'Bash',
    tool_input: { command: 'npm test', description: 'Run test suite' },
    tool_use_id: 'toolu_01ABC123',
  },
  data: {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse' as const,
      permissionDecision: 'deny' as const,
      permissionDecisionReason: 'Bash was not allowed: No rule allows this action.',
    },
  },
}
