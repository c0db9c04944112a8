import { checkAndWait } from '../../actions/gate/check-wait.ts'
import { judgeNow } from '../../actions/gate/judge.ts'
import { OutcomeRequest, recordOutcome } from '../../actions/outcomes/outcomes.ts'
import { CheckRequest, RiskRequest } from '../../gate/request.ts'
import { Outcome, outcomeExample } from '../outcomes/shapes.ts'
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
  outcome: route({
    body: OutcomeRequest,
    data: Outcome,
    errors: ['not_found', 'outcome_conflict'],
    example: outcomeExample,
    handle: async (services, { caller, body, idempotency }) => ({
      data: await recordOutcome(services, caller, body, idempotency),
    }),
  }),
  risk: route({
    body: RiskRequest,
    data: RiskAssessment,
    example: riskExample,
    handle: async (services, { caller, body }) => ({ data: (await judgeNow(services, caller, body)).risk }),
  }),
}
