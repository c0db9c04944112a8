import { checkAndWait } from '../../actions/gate/check-wait.ts'
import { riskNow } from '../../actions/gate/judge.ts'
import { CheckRequest, RiskRequest } from '../../gate/request.ts'
import { CheckQuery, waitMsOf } from '../query.ts'
import { route } from '../route.ts'
import * as shapes from './shapes.ts'

export const gateRoutes = {
  // 200 for every decision, deny included. A 4xx or 5xx means that nothing was decided, and a client treats it as deny.
  check: route({
    body: CheckRequest,
    query: CheckQuery,
    data: shapes.Decision,
    example: shapes.checkExample,
    answer: (services, call) =>
      checkAndWait(services, call, call.body, call.idempotency, {
        waitMs: waitMsOf(call.query),
        explain: call.query.explain === 1,
      }),
  }),
  risk: route({
    body: RiskRequest,
    data: shapes.RiskAssessment,
    example: shapes.riskExample,
    answer: (services, { caller, body }) => riskNow(services, caller, body),
  }),
}
