import { OutcomeRequest, recordOutcome } from '../../actions/outcomes/outcomes.ts'
import { route } from '../route.ts'
import * as shapes from './shapes.ts'

export const outcomeRoutes = {
  outcome: route({
    body: OutcomeRequest,
    data: shapes.Outcome,
    errors: ['not_found', 'outcome_conflict'],
    example: shapes.outcomeExample,
    answer: (services, { caller, body, idempotency }) => recordOutcome(services, caller, body, idempotency),
  }),
}
