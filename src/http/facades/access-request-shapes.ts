import { type Static, Type } from '#typebox'
import { USUAL_URL } from '../../base/variables.ts'
import { EXAMPLE, id, oneOf, Timestamp } from '../common-shapes.ts'
import { Evaluation, exampleEvaluation } from './authzen-shapes.ts'

/* Shapes of the Access Request and Approval Profile of AuthZEN, draft 1. */

/** Access request: the evaluation once more, and the id of the one that denied it. */
export const AccessRequest = Type.Object({
  ...Evaluation.properties,
  denial: Type.Object({
    evaluation_id: Type.String({ description: '`context.evaluation_id` of the denial.' }),
    expires_at: Type.String({ description: '`context.access_request.expires_at` of the denial. It is not looked at.' }),
  }),
})

const TASK_STATUSES = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const

export const AccessTask = Type.Object({
  task: Type.Object({
    id: id('approval', 'The approval that it is.'),
    status: oneOf(TASK_STATUSES),
    status_endpoint: Type.String({ description: 'Where it is asked for again.' }),
  }),
  result: Type.Optional(
    Type.Object({
      mode: oneOf(['reevaluate']),
      approval: Type.Object(
        {
          id: id('approval', 'The same approval.'),
          approved_at: Timestamp,
          approved_until: Timestamp,
        },
        { description: 'Goes into `context.approval` of the next evaluation, as it is. It is good for one.' },
      ),
    }),
  ),
})
export type AccessTask = Static<typeof AccessTask>

const status_endpoint = `${USUAL_URL}/access/v1/requests/${EXAMPLE.approval}`

export const requestAccessExample = {
  body: { ...exampleEvaluation, denial: { evaluation_id: EXAMPLE.decision, expires_at: EXAMPLE.later } },
  data: { task: { id: EXAMPLE.approval, status: 'pending' as const, status_endpoint } },
}

export const accessRequestExample = {
  data: {
    task: { id: EXAMPLE.approval, status: 'approved' as const, status_endpoint },
    result: {
      mode: 'reevaluate' as const,
      approval: { id: EXAMPLE.approval, approved_at: EXAMPLE.time, approved_until: EXAMPLE.later },
    },
  },
}
