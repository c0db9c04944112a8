import { explainedDecision } from '../../actions/explain.ts'
import { route } from '../route.ts'
import { EXAMPLE } from '../shapes/common.ts'
import { getDecisionExample, RecordedDecision } from '../shapes/decisions.ts'

export const decisionRoutes = {
  getDecision: route({
    params: { id: { description: 'Id of the decision, or of its audit entry.', example: EXAMPLE.decision } },
    data: RecordedDecision,
    errors: ['not_found', 'redacted'],
    example: getDecisionExample,
    handle: async (services, { caller, params }) => ({
      data: await explainedDecision(services, caller, params.id ?? ''),
    }),
  }),
}
