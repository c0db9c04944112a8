import { getApproval } from '../../actions/approvals/approvals.ts'
import { check } from '../../actions/gate/check.ts'
import { route } from '../route.ts'
import { checkRequestOf, opaAllow, opaAnswer } from './opa.ts'
import { OpaAllow, OpaAnswer, OpaQuery, OpaRequest, opaAllowExample, opaExample } from './opa-shapes.ts'

export const opaRoutes = {
  // An undecided request is an error: a client takes an answer without a result as leave to run the tool.
  opaDecision: route({
    body: OpaRequest,
    query: OpaQuery,
    data: OpaAnswer,
    bare: 'application/json',
    example: opaExample,
    async answer(services, { caller, body: { input } }) {
      const answer = await check(services, caller, checkRequestOf(caller.tenantId, input))
      const { decision, decisionId, approvalId } = answer
      const held = decision === 'require_approval' && approvalId !== null
      const approval = held ? await getApproval(services, caller, approvalId) : undefined
      // Another decision made the approval: this is not the first question about exactly this call.
      return opaAnswer(answer, input.messages, approval?.decisionId === decisionId)
    },
  }),
  opaAllow: route({
    body: OpaRequest,
    query: OpaQuery,
    data: OpaAllow,
    bare: 'application/json',
    example: opaAllowExample,
    async answer(services, { caller, body: { input } }) {
      return opaAllow(await check(services, caller, checkRequestOf(caller.tenantId, input)))
    },
  }),
}
