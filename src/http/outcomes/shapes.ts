import * as Type from '#typebox'
import { OUTCOME_STATUSES } from '../../actions/outcomes/outcome-of.ts'
import { EFFECTS } from '../../policies/set.ts'
import { EXAMPLE, id, nullable, oneOf, Timestamp, titled } from '../common-shapes.ts'

/** Members of the outcome itself. */
export const RecordedOutcome = {
  status: oneOf(
    [...OUTCOME_STATUSES, 'missing'],
    '`failed`: it may have had effects. `missing`: it was allowed, and its agent, which reports outcomes, reported none in time.',
  ),
  possibleBypass: Type.Boolean({ description: 'It ran without an allow, or its outcome never came.' }),
  observed: Type.Boolean({ description: 'The caller said that it only watches and runs actions whatever is decided.' }),
  durationMs: nullable(Type.Integer({ minimum: 0 })),
  error: nullable(Type.String({ description: 'As the caller put it; null also where it has been erased.' })),
  recordedAt: Timestamp,
  entryId: id('entry', 'Id of its audit entry.'),
}

export const Outcome = titled('Outcome', 'Outcome of an action after its decision, as its agent reports it.', {
  decisionId: id('decision', 'The decision that the action was run on.'),
  action: Type.String(),
  decision: oneOf(EFFECTS),
  ...RecordedOutcome,
})

export const outcomeExample = {
  body: { decisionId: EXAMPLE.decision, status: 'succeeded' as const, durationMs: 412 },
  data: {
    decisionId: EXAMPLE.decision,
    action: 'payment.transfer',
    decision: 'allow' as const,
    status: 'succeeded' as const,
    possibleBypass: false,
    observed: false,
    durationMs: 412,
    error: null,
    recordedAt: EXAMPLE.time,
    entryId: EXAMPLE.entry,
  },
}
