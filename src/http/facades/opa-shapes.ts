import * as Type from '#typebox'
import { ACTION_PATTERN } from '../../base/glob.ts'
import type { Json } from '../../base/json.ts'
import { AnyJsonObject } from '../../gate/request.ts'
import { EXAMPLE, id, nullable, Observed, oneOf, Timestamp } from '../common-shapes.ts'
import { queryShape } from '../query.ts'

/** Input of the package @ai-sdk/policy-opa, or an application's replacement of it. */
export const OpaInput = Type.Object({
  tool: Type.Object({ name: Type.String({ pattern: ACTION_PATTERN, description: 'The action.' }) }),
  args: Type.Optional(Type.Unsafe<Json>({ description: '`context.args`' })),
  messages: Type.Optional(
    Type.Array(AnyJsonObject, { description: '`context.userRequest` and `context.tainted` follow from these.' }),
  ),
  runtimeContext: Type.Optional(Type.Unsafe<Json>({ description: '`context.runtimeContext`' })),
})

export const OpaRequest = Type.Object({ input: OpaInput })

const Ignored = Type.Optional(Type.String({ description: 'Ignored.' }))

/** Parameters that clients of Open Policy Agent may send. None of them changes a decision. */
export const OpaQuery = queryShape({
  pretty: Ignored,
  explain: Ignored,
  metrics: Ignored,
  instrument: Ignored,
  provenance: Ignored,
  'strict-builtin-errors': Ignored,
})

export const OpaAnswer = Type.Object({
  decision_id: id('decision', 'Exports as evidence under this id.'),
  result: Type.Object({
    decision: oneOf(['allow', 'deny', 'requires-approval'], 'Only `allow` lets the tool run.'),
    reason: Type.String({ description: 'A sentence for people.' }),
    observed: Observed,
    approval_id: nullable(id('approval', 'The approval that is waited for, or was used.')),
    approval_expires_at: nullable(Timestamp),
    valid_until: nullable(Type.String({ format: 'date-time', description: 'An allow is good until then.' })),
  }),
})

/** Answer whose result is a plain truth value: a client that tests `if (result)` takes any object for an allow. */
export const OpaAllow = Type.Object({
  decision_id: id('decision', 'Exports as evidence under this id.'),
  result: Type.Boolean({
    description: 'Only `true` lets the tool run. A held action is `false` until it is approved.',
  }),
})

const body = {
  input: {
    tool: { name: 'payment.transfer' },
    args: { amount: 25, country: 'DE' },
    messages: [{ role: 'user', content: 'Pay the invoice of Acme.' }],
  },
}

export const opaAllowExample = { body, data: { decision_id: EXAMPLE.decision, result: true } }

export const opaExample = {
  body,
  data: {
    decision_id: EXAMPLE.decision,
    result: {
      decision: 'allow' as const,
      reason: 'Payments within limits.',
      approval_id: null,
      approval_expires_at: null,
      valid_until: EXAMPLE.later,
    },
  },
}
