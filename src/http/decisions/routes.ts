import * as Type from '#typebox'
import { explainedDecision } from '../../actions/decisions/explain.ts'
import { listDecisions, MATCHES, MAX_LISTED } from '../../actions/decisions/list.ts'
import { decisionTimeline } from '../../actions/decisions/timeline.ts'
import { GateError } from '../../base/errors.ts'
import { GLOB_PATTERN, type Glob, parseGlob } from '../../base/glob.ts'
import { DECIDED_BY } from '../../gate/decide.ts'
import { EFFECTS } from '../../policies/set.ts'
import { EXAMPLE, oneOf, placeBefore } from '../common-shapes.ts'
import { queryShape, TimeRange, timesOf } from '../query.ts'
import { route } from '../route.ts'
import * as shapes from './shapes.ts'
import { DecisionTimeline, decisionTimelineExample } from './timeline-shapes.ts'

const named = (description: string) => Type.Optional(Type.String({ maxLength: 256, description }))

const DecisionsQuery = queryShape({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_LISTED, description: 'Limit of decisions in the answer.' }),
  ),
  before: placeBefore('Only decisions before this place of the trail: `next` of the page before.'),
  decision: Type.Optional(oneOf(EFFECTS, 'The decision that was made.')),
  observed: Type.Optional(oneOf(EFFECTS, 'Decision of the policies, for decisions that were only observed.')),
  shadow: Type.Optional(
    oneOf(
      ['differs', ...EFFECTS],
      'Decision of the set in shadow, where it would have decided otherwise; `differs` for any of these.',
    ),
  ),
  action: Type.Optional(Type.String({ pattern: GLOB_PATTERN, description: 'An action, or a glob: `payment.*`.' })),
  decidedBy: Type.Optional(oneOf(DECIDED_BY, 'The step of the order of decision that decided.')),
  rule: named('The rule that decided.'),
  agent: named("Requester: its key's identity, else its key's id."),
  session: named('The session that the policies saw.'),
  match: Type.Optional(
    oneOf(MATCHES, 'Comparison of `rule`, `agent` and `session`: `whole`, or `part` of the name, ignoring case.'),
  ),
  minRisk: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, description: 'A risk score of this or more.' })),
  ...TimeRange,
})
const id = { description: 'Id of the decision, or of its audit entry.', example: EXAMPLE.decision }

export const decisionRoutes = {
  listDecisions: route({
    query: DecisionsQuery,
    data: shapes.DecisionList,
    example: shapes.listDecisionsExample,
    answer: (services, { caller, query: { limit = 50, before, from, to, action, match, ...others } }) =>
      listDecisions(services, {
        trail: caller.chain,
        limit,
        before,
        match,
        ...timesOf({ from, to }),
        filter: { ...others, action: globOf(action) },
      }),
  }),
  getDecision: route({
    id,
    data: shapes.RecordedDecision,
    errors: ['not_found', 'archived', 'redacted'],
    example: shapes.getDecisionExample,
    answer: (services, { caller, id }) => explainedDecision(services, caller, id),
  }),
  decisionTimeline: route({
    id,
    data: DecisionTimeline,
    errors: ['not_found', 'archived'],
    example: decisionTimelineExample,
    answer: (services, { caller, id }) => decisionTimeline(services, caller, id),
  }),
}

function globOf(text: string | undefined): Glob | undefined {
  if (text === undefined) return undefined
  const glob = parseGlob(text)
  if (glob !== undefined) return glob
  throw new GateError('invalid_request', 'action must be an action or a glob, such as payment.*.', {
    details: [{ path: '/action', message: 'must be an action or a glob; ** stands alone between dots' }],
  })
}
