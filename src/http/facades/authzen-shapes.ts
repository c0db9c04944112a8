import * as Type from '#typebox'
import { ACTION_PATTERN } from '../../base/glob.ts'
import { USUAL_URL } from '../../base/variables.ts'
import { AnyJsonObject } from '../../gate/request.ts'
import { described, EXAMPLE, id, Observed, oneOf, Timestamp } from '../common-shapes.ts'

/* Shapes of the Authorization API 1.0 of AuthZEN. Unlike ours they are open: a receiver ignores unknown members. */

/** Limit of evaluations in one request. */
const MAX_EVALUATIONS = 100

const properties = Type.Optional(AnyJsonObject)

const Entity = Type.Object({ type: Type.String(), id: Type.String(), properties })
const Action = Type.Object({
  name: Type.String({ pattern: ACTION_PATTERN, description: 'The action that is decided.' }),
  properties,
})

export const Evaluation = Type.Object({
  subject: Entity,
  action: Action,
  resource: Entity,
  context: Type.Optional(AnyJsonObject),
})
export type Evaluation = Type.Static<typeof Evaluation>

/** Semantics that decide how many of the evaluations are carried out. */
const SEMANTICS = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const

/** Without `evaluations` it is one evaluation. The other members are defaults of the evaluations. */
export const Evaluations = Type.Object({
  subject: Type.Optional(AnyJsonObject),
  action: Type.Optional(AnyJsonObject),
  resource: Type.Optional(AnyJsonObject),
  context: Type.Optional(AnyJsonObject),
  evaluations: Type.Optional(Type.Array(AnyJsonObject, { maxItems: MAX_EVALUATIONS })),
  options: Type.Optional(Type.Object({ evaluations_semantic: Type.Optional(oneOf(SEMANTICS)) })),
})
export type Evaluations = Type.Static<typeof Evaluations>

const Until = Type.String({ format: 'date-time' })

/** Context of a decision. Its members are those of the access request profile where it has one. */
const DecisionContext = Type.Object({
  evaluation_id: Type.Optional(id('decision', 'Exports as evidence under this id.')),
  evaluated_at: Type.Optional(Timestamp),
  reason: Type.Optional(Type.String({ description: '`approval_required`, or the step that decided.' })),
  reason_user: Type.Optional(Type.Object({ en: Type.String() })),
  observed: Observed,
  valid_until: Type.Optional(Type.String({ ...Until, description: 'An allow is good until then.' })),
  access_request: Type.Optional(Type.Object({ endpoint: Type.String(), expires_at: Timestamp })),
  approval: Type.Optional(Type.Object({ id: id('approval', 'The approval that was used up.'), approved_until: Until })),
  next_action: Type.Optional(oneOf(['request', 'none'], 'After an evaluation with an approval that was denied.')),
  error: Type.Optional(Type.Object({ status: Type.Integer(), message: Type.String() })),
})

export const AccessDecision = Type.Object({ decision: Type.Boolean(), context: DecisionContext })
export type AccessDecision = Type.Static<typeof AccessDecision>

/** Answer of POST /access/v1/evaluations: a list, or one decision when no list was sent. */
export const AccessDecisions = Type.Union([Type.Object({ evaluations: Type.Array(AccessDecision) }), AccessDecision])

export const Configuration = Type.Object({
  policy_decision_point: Type.String(),
  access_evaluation_endpoint: Type.String(),
  access_evaluations_endpoint: Type.String(),
  access_request_endpoint: Type.String(),
  capabilities: Type.Array(Type.String()),
})

const exampleEvaluation = {
  subject: { type: 'user', id: 'alice' },
  action: { name: 'payment.transfer' },
  resource: { type: 'account', id: 'DE02100500000054540402' },
  context: { amount: 25 },
}

const exampleDecision = {
  decision: false,
  context: {
    evaluation_id: EXAMPLE.decision,
    evaluated_at: EXAMPLE.time,
    reason: 'approval_required',
    reason_user: { en: 'A new account is looked at by a person.' },
    access_request: { endpoint: `${USUAL_URL}/access/v1/requests`, expires_at: EXAMPLE.later },
  },
}

export const evaluationExample = { body: exampleEvaluation, data: exampleDecision }

export const evaluationsExample = {
  body: {
    ...exampleEvaluation,
    evaluations: [{ context: { amount: 25 } }, { action: { name: 'can read' } }],
    options: { evaluations_semantic: 'execute_all' as const },
  },
  data: {
    evaluations: [
      exampleDecision,
      { decision: false, context: { error: { status: 400, message: '/action/name must match pattern.' } } },
    ],
  },
}

export const configurationExample = {
  data: {
    policy_decision_point: USUAL_URL,
    access_evaluation_endpoint: `${USUAL_URL}/access/v1/evaluation`,
    access_evaluations_endpoint: `${USUAL_URL}/access/v1/evaluations`,
    access_request_endpoint: `${USUAL_URL}/access/v1/requests`,
    capabilities: ['urn:openid:authzen:capability:access-request'],
  },
}

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
    status_endpoint: Type.String({ description: 'URL to poll for the status of the task.' }),
  }),
  result: Type.Optional(
    Type.Object({
      mode: oneOf(['reevaluate']),
      approval: described('Goes into `context.approval` of the next evaluation, as it is. It is good for one.', {
        id: id('approval', 'The same approval.'),
        approved_at: Timestamp,
        approved_until: Timestamp,
      }),
    }),
  ),
})
export type AccessTask = Type.Static<typeof AccessTask>

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
