import { DECORATORS } from '../../policies/decorators.ts'
import { OPERATORS, type Operator } from '../../policies/operators.ts'
import type { FactType } from '../../policies/set.ts'
import { BUILT_IN_FACTS, REQUEST_ROOTS } from '../load/fact-names.ts'
import { LIMITS } from '../load/limits.ts'
import { NAME_PATTERN } from '../shapes/parts.ts'
import { CIDR, FACT_NAMES, OVER_TIME_PATH, PLURAL, REQUEST_PATH, TIME } from './patterns.ts'

type Schema = Readonly<Record<string, unknown>>

const CONDITION = '#/$defs/condition'
const LEAF = { fact: 'context.amount', operator: 'greaterThan', value: 1000 }
const SCALAR: Schema = { type: ['string', 'number', 'boolean'] }

/**
 * A condition in one of its five forms. All keys stand in one list of properties, so that an editor offers and
 * explains each wherever a condition begins; `anyOf` says which go together.
 */
export function conditionSchema(): Schema {
  return {
    type: 'object',
    description:
      'Compares a fact with a constant, or combines conditions: all, any, not, or condition for a named one.',
    examples: [LEAF, { all: [LEAF] }, { not: LEAF }, { condition: 'abroad' }],
    properties: { ...leafProperties(), ...formProperties() },
    additionalProperties: false,
    anyOf: [
      { title: 'comparison', required: ['fact', 'operator'], propertyNames: { enum: ['fact', 'operator', 'value'] } },
      ...['all', 'any', 'not', 'condition'].map((form) => ({ title: form, required: [form], maxProperties: 1 })),
    ],
    allOf: [...byOperator(), ...byFact()],
  }
}

function leafProperties(): Schema {
  return {
    fact: {
      description:
        'Fact to look at: one that is always there, a path under context or plan, or what session and history declare.',
      anyOf: [
        { enum: FACT_NAMES },
        { type: 'string', pattern: REQUEST_PATH },
        { type: 'string', pattern: OVER_TIME_PATH },
      ],
      examples: ['context.amount', 'plan.steps.*.action'],
    },
    operator: {
      description: `Operator of the comparison. ${[...DECORATORS.keys()].join(', ')} stand before an operator with a colon.`,
      anyOf: [
        ...Array.from(OPERATORS.values(), ({ name, help }) => ({ const: name, description: `True when ${help}.` })),
        { type: 'string', pattern: operatorPattern([...OPERATORS.values()].filter(takesValue), '+') },
      ],
      examples: ['greaterThan', 'someFact:equal'],
    },
    value: {
      description: 'The constant; its kind follows from the operator. exists and missing take none, or true.',
      examples: [1000, 'DE', ['DE', 'FR']],
    },
  }
}

function formProperties(): Schema {
  const some = { type: 'array', minItems: 1, items: { $ref: CONDITION } }
  return {
    all: { ...some, description: 'True when all of these are.', examples: [[LEAF]] },
    any: { ...some, description: 'True when one of these is.', examples: [[LEAF]] },
    not: { $ref: CONDITION, description: 'The opposite; unknown stays unknown.', examples: [LEAF] },
    condition: {
      type: 'string',
      pattern: NAME_PATTERN,
      description: 'The name of a condition under conditions, in any file of the set.',
      examples: ['abroad'],
    },
  }
}

const takesValue = ({ value }: Operator): boolean => value !== 'none'

/** The operators with decorators before them: `*` for any number, `+` for at least one. */
function operatorPattern(operators: readonly Operator[], decorators: '*' | '+', only = [...DECORATORS.keys()]): string {
  return `^(?:(?:${only.join('|')}):)${decorators}(?:${operators.map(({ name }) => name).join('|')})$`
}

const VALUES: Readonly<Record<Exclude<Operator['value'], 'none'>, Schema>> = {
  scalar: SCALAR,
  scalars: { type: 'array', minItems: 1, items: SCALAR },
  number: { type: 'number' },
  text: { type: 'string', minLength: 1 },
  pattern: { type: 'string', maxLength: LIMITS.pattern },
  list: { type: 'string', pattern: NAME_PATTERN },
  cidr: {
    anyOf: [
      { type: 'string', pattern: CIDR },
      { type: 'array', minItems: 1, items: { type: 'string', pattern: CIDR } },
    ],
  },
  time: { type: 'string', pattern: TIME },
}

/** Exactly one of these texts. An enum would be shown by editors as the allowed values. */
function exactly(names: readonly string[]): Schema {
  return { type: 'string', pattern: `^(?:${names.map((name) => name.replace('.', '\\.')).join('|')})$` }
}

/** The kind of constant that each operator takes. */
function byOperator(): Schema[] {
  const operators = [...OPERATORS.values()]
  const withValue = Object.entries(VALUES).map(([kind, value]) => {
    const pattern = operatorPattern(
      operators.filter((operator) => operator.value === kind),
      '*',
    )
    return when({ operator: { type: 'string', pattern } }, { required: ['value'], properties: { value } })
  })
  const names = operators.filter((operator) => !takesValue(operator)).map(({ name }) => name)
  return [...withValue, when({ operator: exactly(names) }, { properties: { value: { const: true } } })]
}

/** Operators and constants that suit facts whose type follows from their names. */
function byFact(): Schema[] {
  const namesOf = (type: FactType): string[] => FACT_NAMES.filter((name) => BUILT_IN_FACTS.get(name) === type)
  const overItems = operatorPattern([...OPERATORS.values()].filter(takesValue), '*')
  const isList: Schema = {
    anyOf: [
      { pattern: operatorPattern(suited('list'), '*', ['not']) },
      // Any operator may test the items of a list.
      { allOf: [{ pattern: overItems }, { pattern: '(?:^|:)(?:someFact|everyFact):' }] },
    ],
  }
  return [
    ...(['string', 'integer'] as const).flatMap((type) => [
      when({ fact: exactly(namesOf(type)) }, onlyOperator({ pattern: operatorPattern(suited(type), '*', ['not']) })),
      when(
        { fact: exactly(namesOf(type)), operator: { type: 'string', pattern: COMPARED } },
        { properties: { value: { type: [type, 'array'], items: { type } } } },
      ),
    ]),
    when({ fact: { type: 'string', pattern: PLURAL } }, onlyOperator(isList)),
    when(
      { fact: exactly([...REQUEST_ROOTS]) },
      onlyOperator({ pattern: operatorPattern(suited('object'), '*', ['not']) }),
    ),
  ]
}

const COMPARED = operatorPattern(
  [...OPERATORS.values()].filter(({ value }) => value === 'scalar' || value === 'scalars'),
  '*',
)

function suited(type: FactType): Operator[] {
  return [...OPERATORS.values()].filter(({ factTypes }) => factTypes.includes(type))
}

function onlyOperator(operator: Schema): Schema {
  return { properties: { operator } }
}

function when(properties: Schema, then: Schema): Schema {
  return { if: { properties, required: Object.keys(properties) }, then }
}
