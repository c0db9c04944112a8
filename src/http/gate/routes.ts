import { checkAndWait } from '../../actions/gate/check-wait.ts'
import { judgeNow } from '../../actions/gate/judge.ts'
import { CheckRequest, RiskRequest } from '../../gate/request.ts'
import { CheckQuery, waitMsOf } from '../query.ts'
import { route } from '../route.ts'
import { checkExample, Decision, RiskAssessment, riskExample } from './shapes.ts'

export const gateRoutes = {
  // 200 for every decision, deny included. A 4xx or 5xx means that nothing was decided, and a client treats it as deny.
  check: route({
    body: CheckRequest,
    query: CheckQuery,
    data: Decision,
    example: checkExample,
    handle: async (services, { caller, body, query, idempotency, isGone, waited }) => ({
      data: await checkAndWait(services, caller, body, idempotency, {
        waitMs: waitMsOf(query),
        isGone,
        waited,
        explain: query.explain === 1,
      }),
    }),
  }),
  risk: route({
    body: RiskRequest,
    data: RiskAssessment,
    example: riskExample,
    handle: async (services, { caller, body }) => ({ data: (await judgeNow(services, caller, body)).risk }),
  }),
}
