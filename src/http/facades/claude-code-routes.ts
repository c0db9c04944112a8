import { checkAndWait } from '../../actions/gate/check-wait.ts'
import { denyOutput, refusalSentence, requestOf } from '../../gate/claude-code.ts'
import { PreToolUse } from '../../gate/claude-code-event.ts'
import { MAX_WAIT_MS } from '../query.ts'
import { route } from '../route.ts'
import { HookAnswer, hookExample } from './claude-code-shapes.ts'

export const claudeCodeRoutes = {
  claudeCodeHook: route({
    body: PreToolUse,
    data: HookAnswer,
    bare: 'application/json',
    example: hookExample,
    async handle(services, { caller, body, isGone, waited }) {
      const request = { tenantId: caller.tenantId, ...requestOf(body) }
      const answer = await checkAndWait(services, caller, request, undefined, {
        waitMs: MAX_WAIT_MS,
        isGone,
        waited,
        explain: false,
      })
      return { data: answer.decision === 'allow' ? {} : denyOutput(refusalSentence(request.action, answer)) }
    },
  }),
}
