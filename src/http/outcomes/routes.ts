import { OutcomeRequest, recordOutcome } from '../../actions/outcomes/outcomes.ts'
import { route } from '../route.ts'
import { Outcome, outcomeExample } from './shapes.ts'

export const outcomeRoutes = {
  outcome: route({
    body: OutcomeRequest,
    data: Outcome,
    errors: ['not_found', 'outcome_conflict'],
    example: outcomeExample,
    handle: async (services, { caller, body, idempotency }) => ({
      data: await recordOutcome(services, caller, body, idempotency),
    }),
  }),
}
