import * as Type from '#typebox'
import { DECIDED_BY } from '../../gate/decide.ts'
import { EFFECTS, RETRIES } from '../../policies/set.ts'
import {
  Digest,
  EXAMPLE,
  id,
  nullable,
  Observed,
  oneOf,
  RiskFactor,
  Timestamp,
  textOf,
  titled,
} from '../common-shapes.ts'
import { Explanation } from '../decisions/explanation-shapes.ts'

export const Unevaluable = titled(
  'Unevaluable',
  'A rule or factor that could not be evaluated: rules that restrain apply, those that permit do not.',
  {
    kind: textOf(['rule', 'factor'], 'Kind of what could not be evaluated.'),
    name: Type.String(),
    facts: Type.Array(Type.String(), { description: 'The facts that were missing or of another type.' }),
    overBudget: Type.Optional(
      Type.Array(Type.String(), { description: 'The facts whose comparison takes more work than one check may do.' }),
    ),
  },
)

/** `data` of POST /gate/check. */
export const Decision = titled('Decision', 'The decision and its reason. It is on disk before it is answered.', {
  decision: oneOf(EFFECTS, 'Only `allow` lets the action run.'),
  observed: Observed,
  reason: Type.String({ description: 'A sentence for people.' }),
  riskScore: Type.Number({ minimum: 0, maximum: 100 }),
  plan: Type.Object({ action: Type.String(), validated: Type.Boolean() }),
  decisionId: id('decision', 'Exports as evidence under this id.'),
  timestamp: Timestamp,
  rule: nullable(Type.String({ description: 'The rule that decided, if one did.' })),
  decidedBy: textOf(DECIDED_BY, 'The step of the order of decision that decided.'),
  retry: textOf(RETRIES, 'Advice about when to ask again.'),
  policyDigest: nullable(Digest),
  approvalId: nullable(id('approval', 'The approval that is waited for, or was used.')),
  approvalExpiresAt: nullable(Timestamp),
  validUntil: nullable(Type.String({ format: 'date-time', description: 'An allow is good until then.' })),
  factors: Type.Array(RiskFactor),
  unevaluable: Type.Array(Unevaluable),
  explanation: Type.Optional(Explanation),
})

export const RiskAssessment = Type.Object(
  { score: Type.Number({ minimum: 0, maximum: 100 }), factors: Type.Array(RiskFactor) },
  { title: 'RiskAssessment', description: 'The sum of the factors, without a decision.' },
)

const request = { tenantId: 'acme', action: 'payment.transfer', context: EXAMPLE.context }

export const checkExample = {
  body: request,
  data: {
    decision: 'require_approval' as const,
    reason: EXAMPLE.verdict.reason,
    riskScore: 35.1,
    plan: { action: 'payment.transfer', validated: true },
    decisionId: EXAMPLE.decision,
    timestamp: EXAMPLE.time,
    rule: 'steered-transfer',
    decidedBy: 'hold_rule',
    retry: 'after_approval',
    policyDigest: EXAMPLE.policyDigest,
    approvalId: EXAMPLE.approval,
    approvalExpiresAt: EXAMPLE.later,
    validUntil: null,
    factors: EXAMPLE.factors,
    unevaluable: [],
  },
}

export const riskExample = { body: request, data: { score: 35.1, factors: EXAMPLE.factors } }
