import Type, { type TSchema } from 'typebox'
import { ACTION_PATTERN, GLOB_PATTERN } from '../../base/glob.ts'
import type { DiagnosticCode } from '../codes.ts'
import { LIMITS } from '../limits.ts'
import { EFFECTS, POLICY_STEPS, RETRIES } from '../set.ts'
import { API_VERSION } from '../shapes.ts'
import { DEFAULT_AGENT, DEFAULT_NOW } from './cases.ts'

/** How the faults of a test file's shape are reported. */
export function testCode(keyword: string): DiagnosticCode {
  if (keyword === 'additionalProperties') return 'GATE1501'
  return keyword === 'required' ? 'GATE1502' : 'GATE1503'
}

const CLOSED = { additionalProperties: false }
const POINTS = { minimum: 0, maximum: 100 }
const Name = Type.String({ minLength: 1 })
const Names = (description: string, examples: readonly string[][]) => Type.Array(Name, { description, examples })

const Now = Type.String({
  description: `The time that the policies see, RFC 3339 with a zone. Of a test before that of the file; ${DEFAULT_NOW}, a Monday, where neither has one.`,
  examples: ['2026-01-31T09:00:00Z', '2026-01-31T09:00:00+01:00'],
})

/** A mapping from names to values. Not Type.Record, which would keep a malformed name from being an unknown key. */
function mapOf(value: object, description: string, example: unknown) {
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    description,
    examples: [example],
    additionalProperties: value,
  })
}

export const Agent = Type.Object(
  {
    identity: Type.Optional(
      Type.String({
        minLength: 1,
        default: DEFAULT_AGENT.identity,
        description: "The fact agent: the identity of the asking key, or the key's id where it has none.",
        examples: ['support-agent'],
      }),
    ),
    environment: Type.Optional(
      Type.Enum(['live', 'test'], { default: DEFAULT_AGENT.environment, description: 'The fact environment.' }),
    ),
    description: Type.Optional(Type.String({ description: 'For readers.' })),
  },
  CLOSED,
)

/** A range of numbers with its bounds; `score` of a risk says it exactly. */
export const AmountRange = Type.Object(
  {
    min: Type.Optional(Type.Number({ ...POINTS, description: 'At least this.' })),
    max: Type.Optional(Type.Number({ ...POINTS, description: 'At most this.' })),
  },
  { ...CLOSED, minProperties: 1 },
)

export const ExactAmount = Type.Number({ ...POINTS, description: 'Exactly this, with one decimal.' })

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
function wantedShape(amount: TSchema) {
  return {
    decision: Type.Enum([...EFFECTS], { description: 'What is answered.' }),
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
    retry: Type.Optional(Type.Enum([...RETRIES], { description: 'When it makes sense to ask again.' })),
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'The reason that the agent is told, word for word.',
        examples: ['Transfers above 10,000 EUR need two people of treasury.'],
      }),
    ),
    risk: Type.Optional(Risk),
    factors: Type.Optional(
      mapOf(amount, 'What risk factors contribute, by name: a number, or a range. Those left out are not looked at.', {
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

function expectationShape(amount: TSchema) {
  return Type.Object(wantedShape(amount), {
    ...CLOSED,
    description: 'What must be answered; what is left out is not looked at.',
  })
}

function selectedShape(amount: TSchema) {
  return Type.Object(
    {
      action: Type.Optional(
        Type.String({
          minLength: 1,
          description: 'Only this action, or those that the pattern matches.',
          examples: ['payment.transfer', 'payment.*'],
        }),
      ),
      context: Type.Optional(Type.String({ minLength: 1, description: 'Only the context of this name.' })),
      plan: Type.Optional(Type.String({ minLength: 1, description: 'Only the plan of this name.' })),
      agent: Type.Optional(Type.String({ minLength: 1, description: 'Only the agent of this name.' })),
      ...wantedShape(amount),
    },
    { ...CLOSED, description: 'An expectation for those combinations that action, context, plan and agent select.' },
  )
}

/** What the loader checks node by node, since which form is meant decides which fault it has. */
export const Expectation = expectationShape(Type.Unknown())
export const SelectedExpectation = selectedShape(Type.Unknown())
export const ExpectationList = Type.Array(Type.Unknown(), { minItems: 1, maxItems: LIMITS.expectationsPerTest })
export const ExpectationMap = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  minProperties: 1,
  maxProperties: LIMITS.expectationsPerTest,
})

const EXPECT_DESCRIPTION =
  'One expectation for all combinations, or one by name of the context, or a list of which each item may select by action, context, plan and agent: a combination is held to every item that selects it. What nothing is expected of is expected to be denied.'

/** All forms of `expect`, for editors. */
function expectShape() {
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

export const Matrix = Type.Object(
  {
    actions: Type.Array(Type.String({ pattern: ACTION_PATTERN }), {
      minItems: 1,
      description: 'Actions, each by its full name.',
      examples: [['payment.transfer', 'payment.refund']],
    }),
    contexts: Type.Optional(
      Type.Array(Name, { minItems: 1, description: 'Names under contexts; without it the context is empty.' }),
    ),
    plans: Type.Optional(
      Type.Array(Name, { minItems: 1, description: 'Names under plans; without it the request has no plan.' }),
    ),
    agents: Type.Optional(
      Type.Array(Name, {
        minItems: 1,
        description: `Names under agents; without it the agent is ${DEFAULT_AGENT.identity}, ${DEFAULT_AGENT.environment}.`,
      }),
    ),
  },
  { ...CLOSED, description: 'Every combination of these is asked.' },
)

function testShape(expect: TSchema) {
  return Type.Object(
    {
      name: Type.String({ minLength: 1, description: 'What the test shows; once in the file.' }),
      description: Type.Optional(Type.String({ description: 'For readers.' })),
      skip: Type.Optional(
        Type.String({
          minLength: 1,
          description: 'Why the test is left out; as long as this is there, it is not run.',
          examples: ['Waits for the new list of countries.'],
        }),
      ),
      now: Type.Optional(Now),
      matrix: Matrix,
      expect,
    },
    CLOSED,
  )
}

function fileShape(expect: TSchema) {
  return Type.Object(
    {
      apiVersion: Type.Literal(API_VERSION, { description: 'The version of the language.' }),
      tenant: Type.String({ minLength: 1, description: 'The name of the folder.', examples: ['acme'] }),
      description: Type.Optional(Type.String({ description: 'For readers.' })),
      now: Type.Optional(Now),
      contexts: Type.Optional(
        mapOf({ type: 'object' }, 'Contexts of requests, by name.', { small: { amount: 25, currency: 'EUR' } }),
      ),
      plans: Type.Optional(
        mapOf({ type: 'object' }, 'Plans of requests, by name.', { refund: { action: 'payment.refund', steps: [] } }),
      ),
      agents: Type.Optional(
        mapOf(Agent, 'Who asks, by name.', { support: { identity: 'support-agent', environment: 'live' } }),
      ),
      tests: Type.Array(testShape(expect), { minItems: 1, description: 'What the policies must decide.' }),
    },
    CLOSED,
  )
}

/** What the loader checks in one go; expectations are checked one by one (expectations.ts). */
export const PolicyTestFile = fileShape(Type.Unknown())

/** A `*.test.yaml` file with everything in it, for editors. */
export function editorTestFile() {
  return fileShape(expectShape())
}
