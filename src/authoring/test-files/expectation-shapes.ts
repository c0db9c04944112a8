import * as Type from '#typebox'
import { GLOB_PATTERN } from '../../base/glob.ts'
import { EFFECTS, POLICY_STEPS, RETRIES } from '../../policies/set.ts'
import { LIMITS } from '../load/limits.ts'
import { CLOSED, TEXT, text } from '../shapes/parts.ts'

const POINTS = { minimum: 0, maximum: 100 }
const Names = (description: string, examples: readonly string[][]) =>
  Type.Array(Type.String(TEXT), { description, examples })

/** A mapping from names to values. Not Type.Record, which would keep a malformed name from being an unknown key. */
export function mapOf(value: object, description: string, example: unknown) {
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    description,
    examples: [example],
    additionalProperties: value,
  })
}

/** A range of numbers with its bounds; `score` of a risk says it exactly. */
export const AmountRange = Type.Object(
  {
    min: Type.Optional(Type.Number({ ...POINTS, description: 'At least this.', examples: [40] })),
    max: Type.Optional(Type.Number({ ...POINTS, description: 'At most this.', examples: [79.9] })),
  },
  { ...CLOSED, minProperties: 1 },
)

export const ExactAmount = Type.Number({
  ...POINTS,
  description: 'Exactly this, with one decimal.',
  examples: [20.5],
})

const Risk = Type.Object(
  { score: Type.Optional(ExactAmount), ...AmountRange.properties },
  {
    ...CLOSED,
    minProperties: 1,
    description: 'The risk score: score says it exactly, min and max are the bounds of a range.',
    examples: [{ score: 20.5 }, { min: 40, max: 80 }],
  },
)

/** The members of an expectation, with the shape of a factor's contribution. */
function wantedShape(amount: Type.TSchema) {
  return {
    decision: Type.Enum([...EFFECTS], { description: 'Decision that is answered.' }),
    rule: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'The id of the rule that decides; null where none does.',
        examples: ['large-transfer', null],
      }),
    ),
    rules: Type.Optional(
      Names('All rules about the action whose condition is true, in any order.', [['transfer', 'large-transfer']]),
    ),
    decidedBy: Type.Optional(Type.Enum([...POLICY_STEPS], { description: 'The step that decides.' })),
    retry: Type.Optional(Type.Enum([...RETRIES], { description: 'Advice about when to ask again.' })),
    quorum: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'Distinct people who must approve.', examples: [2] }),
    ),
    approvers: Type.Optional(
      Type.Unsafe<readonly (string | readonly string[])[]>({
        type: 'array',
        items: { type: ['string', 'array'], minLength: 1, minItems: 1, items: { type: 'string' } },
        description:
          'Key groups of which an approver needs one; a list of lists where rules with other groups hold together. An empty list where anyone may vote.',
        examples: [['treasury'], [['operations'], ['treasury', 'audit']]],
      }),
    ),
    reason: Type.Optional(
      text(
        'The reason that the agent is told, word for word.',
        'Transfers above 10,000 EUR need two people of treasury.',
      ),
    ),
    risk: Type.Optional(Risk),
    factors: Type.Optional(
      mapOf(amount, 'Contributions of risk factors, by name: a number, or a range. Those left out are not looked at.', {
        amount: 12.5,
        'new-recipient': { min: 1 },
      }),
    ),
    unevaluable: Type.Optional(
      Names('All rules and factors that cannot be evaluated, in any order; an empty list for none.', [
        ['large-transfer'],
        [],
      ]),
    ),
  }
}

const CONTRIBUTION = Type.Unsafe<unknown>({
  anyOf: [ExactAmount, AmountRange],
  description: 'Points that the factor contributes.',
})

function expectationShape(amount: Type.TSchema) {
  return Type.Object(wantedShape(amount), {
    ...CLOSED,
    description: 'Required answer; what is left out is not looked at.',
  })
}

function selectedShape(amount: Type.TSchema) {
  return Type.Object(
    {
      action: Type.Optional(
        text('Only this action, or those that the pattern matches.', 'payment.transfer', 'payment.*'),
      ),
      context: Type.Optional(text('Only the context of this name.', 'large')),
      plan: Type.Optional(text('Only the plan of this name.', 'refund')),
      agent: Type.Optional(text('Only the agent of this name.', 'support')),
      history: Type.Optional(text('Only the history of this name.', 'two-transfers')),
      ...wantedShape(amount),
    },
    {
      ...CLOSED,
      description: 'An expectation for those combinations that action, context, plan, agent and history select.',
    },
  )
}

/** Shapes that the loader checks node by node, since the form that was meant decides which fault is reported. */
export const Expectation = expectationShape(Type.Unknown())
export const SelectedExpectation = selectedShape(Type.Unknown())
export const ExpectationList = Type.Array(Type.Unknown(), { minItems: 1, maxItems: LIMITS.expectationsPerTest })
export const ExpectationMap = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  minProperties: 1,
  maxProperties: LIMITS.expectationsPerTest,
})

const EXPECT_DESCRIPTION =
  'One expectation for all combinations, or one by name of the context, or a list of which each item may select by action, context, plan, agent and history: a combination is held to every item that selects it. A combination without an expectation must be denied.'

/** All forms of `expect`, for editors. */
export function expectShape() {
  const selected = selectedShape(CONTRIBUTION)
  // GLOB_PATTERN is checked by the loader itself, with a sentence about patterns.
  const { action } = selected.properties
  const items = { ...selected, properties: { ...selected.properties, action: { ...action, pattern: GLOB_PATTERN } } }
  return Type.Unsafe<unknown>({
    anyOf: [
      expectationShape(CONTRIBUTION),
      { ...ExpectationList, items },
      { ...ExpectationMap, additionalProperties: expectationShape(CONTRIBUTION) },
    ],
    description: EXPECT_DESCRIPTION,
    examples: [
      { decision: 'allow', rule: 'transfer' },
      { small: { decision: 'allow' }, large: { decision: 'require_approval', risk: { min: 40 } } },
      [{ action: 'payment.*', context: 'large', decision: 'require_approval' }],
    ],
  })
}
