import { Type } from '#typebox'
import { DECIDED_BY } from '../../gate/decide.ts'
import { EFFECTS, RETRIES } from '../../policies/set.ts'
import { Digest, EXAMPLE, exampleContext, exampleFactors, nullable, oneOf, RiskFactor } from '../common-shapes.ts'
import { Explanation, exampleExplanation } from '../decisions/explanation-shapes.ts'
import { Unevaluable } from '../gate/shapes.ts'
import { Diagnostic } from './shapes.ts'

const Verdict = Type.Object(
  {
    decision: oneOf(EFFECTS),
    reason: Type.String(),
    rule: nullable(Type.String({ description: 'The rule that decides, if one does.' })),
    decidedBy: oneOf(DECIDED_BY, 'The step of the order of decision that decides.'),
    retry: oneOf(RETRIES, 'When it would make sense to ask again.'),
    riskScore: Type.Number({ minimum: 0, maximum: 100 }),
    factors: Type.Array(RiskFactor),
    unevaluable: Type.Array(Unevaluable),
    planValidated: Type.Boolean(),
    explanation: Explanation,
  },
  { title: 'Verdict', description: 'What would be decided, without approvals.' },
)

/** `data` of POST /policies/dry-run. */
export const DryRun = Type.Object(
  {
    policyDigest: nullable(Digest),
    verdict: nullable(Verdict),
    diagnostics: Type.Array(Diagnostic, {
      description: 'What is wrong with the draft: with an error in it there is no verdict.',
    }),
  },
  { title: 'DryRun', description: 'What would be decided now. It is recorded nowhere.' },
)

export const dryRunExample = {
  body: { tenantId: 'acme', action: 'payment.transfer', context: exampleContext, agent: 'billing-bot' },
  data: {
    policyDigest: EXAMPLE.policyDigest,
    verdict: {
      decision: 'require_approval' as const,
      reason: 'A new account, in a session that holds text of a third party, is looked at by a person.',
      rule: 'steered-transfer',
      decidedBy: 'hold_rule' as const,
      retry: 'after_approval' as const,
      riskScore: 35.1,
      factors: exampleFactors,
      unevaluable: [],
      planValidated: true,
      explanation: exampleExplanation,
    },
    diagnostics: [],
  },
}
