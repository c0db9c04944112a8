import * as Type from '#typebox'
import { checkAndWait } from '../../actions/gate/check-wait.ts'
import { denyOutput, observedOutput, refusalSentence, requestOf } from '../../gate/claude-code.ts'
import { PreToolUse } from '../../gate/claude-code-event.ts'
import { described, oneOf } from '../common-shapes.ts'
import { MAX_WAIT_MS } from '../query.ts'
import { route } from '../route.ts'

/** Part of an answer that Claude Code reads. */
const HookAnswer = described('Empty: the gate allows the call, and the permissions of Claude Code go on.', {
  systemMessage: Type.Optional(
    Type.String({ description: 'Tells the user that the policies, which are only observed, did not allow the call.' }),
  ),
  hookSpecificOutput: Type.Optional(
    Type.Object({
      hookEventName: oneOf(['PreToolUse'], 'The hook.'),
      permissionDecision: oneOf(['deny'], 'The tool does not run.'),
      permissionDecisionReason: Type.String({ description: 'A sentence for the model.' }),
    }),
  ),
})

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

export const claudeCodeRoutes = {
  claudeCodeHook: route({
    body: PreToolUse,
    data: HookAnswer,
    bare: 'application/json',
    example: hookExample,
    async answer(services, call) {
      const request = { tenantId: call.caller.tenantId, ...requestOf(call.body) }
      const answer = await checkAndWait(services, call, request, undefined, { waitMs: MAX_WAIT_MS, explain: false })
      if (answer.decision !== 'allow') return denyOutput(refusalSentence(request.action, answer))
      return observedOutput(request.action, answer)
    },
  }),
}
