import * as Type from '#typebox'
import { EFFECTS } from '../../policies/set.ts'
import { nullable, oneOf, titled } from '../common-shapes.ts'

const Truth = oneOf(
  ['true', 'false', 'unknown'],
  '`unknown` if a fact is missing or has the wrong type, or if the comparison takes more work than one check may do.',
)
const File = Type.String({ description: 'Policy file, such as `acme/main.yaml`.' })
const Line = Type.Integer({ minimum: 1, description: 'From 1.' })

export const ShownValue = Type.Unsafe<object>({
  title: 'ShownValue',
  description:
    'A value: whole as `value`, or, where its JSON is long, by its `beginning` and how many `characters` it has.',
  type: 'object',
  properties: {
    value: {},
    beginning: { type: 'string' },
    characters: { type: 'integer' },
  },
})

const Defaulted = Type.Literal(true, { description: 'The fact was missing: `seen` is its declared default.' })

/** Refers to itself by its name in the document. A TypeScript type of it would be infinite. */
const Condition = Type.Unsafe<object>({
  title: 'ExplainedCondition',
  description:
    'A condition and its result. A `leaf` compares a fact with a value; `all`, `any` and `not` have `conditions`; a `condition` is a named one where it is used, and shows what it stands for the first time in its rule or factor.',
  type: 'object',
  required: ['kind', 'outcome'],
  properties: {
    kind: { type: 'string', enum: ['leaf', 'all', 'any', 'not', 'condition'] },
    outcome: Truth,
    fact: { type: 'string' },
    operator: { type: 'string' },
    wanted: ShownValue,
    seen: { ...nullable(ShownValue), description: 'Null when the fact is missing and has no default.' },
    defaulted: Defaulted,
    overBudget: {
      type: 'boolean',
      enum: [true],
      description: 'Comparing takes more work than one check may do: the outcome is unknown.',
    },
    name: { type: 'string' },
    file: File,
    line: Line,
    conditions: { type: 'array', items: { $ref: '#/components/schemas/ExplainedCondition' } },
    leftOut: { type: 'integer', minimum: 0, description: 'Number of its conditions that are not shown.' },
  },
})

const Rule = titled('ExplainedRule', 'A rule about the action. Without a `condition` it always holds.', {
  id: Type.String(),
  effect: oneOf(EFFECTS),
  outcome: Truth,
  matches: Type.Boolean({
    description: 'A rule of unknown outcome matches where it restrains, and does not where it permits.',
  }),
  decides: Type.Boolean(),
  file: File,
  line: Line,
  condition: Type.Optional(Condition),
})

const Scale = titled('ExplainedScale', 'It adds nothing at `from` or below, the whole weight at `to` or above.', {
  fact: Type.String(),
  from: Type.Number(),
  to: Type.Number(),
  seen: nullable(ShownValue),
  defaulted: Type.Optional(Defaulted),
})

const Factor = titled('ExplainedFactor', 'A risk factor about the action.', {
  name: Type.String(),
  outcome: Truth,
  weight: Type.Number({ description: 'The most that it can contribute.' }),
  contribution: Type.Number(),
  file: File,
  line: Line,
  condition: Type.Optional(Condition),
  scale: nullable(Scale),
})

const Request = titled('ExplainedRequest', 'Result of validating context and plan as declared.', {
  declared: Type.Boolean({ description: 'The action is declared under `actions`.' }),
  validated: Type.Boolean({ description: 'It is declared, and context and plan pass.' }),
  fault: nullable(Type.String({ description: 'Fault of context or plan; null when there is none.' })),
})

const LeftOut = Type.Integer({ minimum: 0, description: 'Number of further ones that are not shown.' })

export const Explanation = Type.Object(
  {
    domain: nullable(Type.String({ description: 'Domain of the action; null when it is in none.' })),
    killSwitch: nullable(
      Type.String({ description: 'Reason of the stop that covers the action; null when none does.' }),
    ),
    request: Request,
    thresholds: nullable(
      Type.Object(
        { requireApproval: Type.Number(), deny: Type.Number() },
        { description: 'Risk scores from which an action needs approval, and is denied.' },
      ),
    ),
    rules: Type.Array(Rule, { description: 'The one that decides first, then those that match.' }),
    rulesLeftOut: LeftOut,
    factors: Type.Array(Factor, { description: 'Those that add something first.' }),
    factorsLeftOut: LeftOut,
  },
  {
    title: 'Explanation',
    description: 'Rules and risk factors about the action with the values that they saw, in bounded size.',
  },
)

const place = { file: 'acme/payments.yaml' }
const outcome = 'true' as const

export const exampleExplanation = {
  domain: 'finance',
  killSwitch: null,
  request: { declared: true, validated: true, fault: null },
  thresholds: { requireApproval: 50, deny: 85 },
  rules: [
    {
      id: 'steered-transfer',
      effect: 'require_approval' as const,
      outcome,
      matches: true,
      decides: true,
      ...place,
      line: 72,
      condition: {
        kind: 'all',
        outcome,
        conditions: [
          {
            kind: 'leaf',
            outcome,
            fact: 'context.tainted',
            operator: 'equal',
            wanted: { value: true },
            seen: { value: true },
            ...place,
            line: 78,
          },
        ],
        leftOut: 0,
      },
    },
  ],
  rulesLeftOut: 0,
  factors: [
    {
      name: 'amount',
      outcome,
      weight: 50,
      contribution: 0.1,
      ...place,
      line: 46,
      scale: { fact: 'context.amount', from: 0, to: 20_000, seen: { value: 25 } },
    },
  ],
  factorsLeftOut: 0,
}
