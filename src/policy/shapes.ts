import Type, { type Static, type TSchema } from 'typebox'
import { ACTION_PATTERN } from '../base/glob.ts'
import { EFFECTS, FACT_TYPES } from './set.ts'

export const API_VERSION = 'gate-sidecar/v1'
/** How rules, factors, lists, conditions and domains are called. */
export const NAME_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$'

const CLOSED = { additionalProperties: false }
const TEXT = { minLength: 1 }
const Points = Type.Number({ minimum: 0, maximum: 100 })
const Globs = Type.Array(Type.String(), {
  minItems: 1,
  description: 'Action patterns: * is one segment or part of one, ** any number.',
})

/** A mapping from names to values. Not Type.Record, which cannot tell a malformed name from an unknown key. */
function byName<S extends TSchema>(pattern: string, value: S) {
  return Type.Unsafe<Record<string, Static<S>>>({
    type: 'object',
    propertyNames: { pattern },
    additionalProperties: value,
  })
}

const Approval = Type.Object(
  {
    quorum: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'Distinct people who must approve; 1 if absent.' }),
    ),
    expiresIn: Type.Optional(
      Type.String({ description: 'How long an approval may be waited for and used, such as 30m; 1 s to 90 d.' }),
    ),
    selfApproval: Type.Optional(Type.Boolean({ description: 'Whether who asks may approve; false if absent.' })),
    approvers: Type.Optional(
      Type.Array(Type.String(TEXT), { minItems: 1, description: 'Key groups of which an approver holds one.' }),
    ),
    unbound: Type.Optional(
      Type.Array(Type.String(), { description: 'Paths under context and plan that may change after approval.' }),
    ),
  },
  CLOSED,
)

const Defaults = Type.Object(
  {
    decision: Type.Optional(Type.Enum(['deny', 'require_approval'])),
    reason: Type.Optional(Type.String(TEXT)),
  },
  CLOSED,
)

const Thresholds = Type.Object({ requireApproval: Type.Optional(Points), deny: Type.Optional(Points) }, CLOSED)

const Fact = Type.Object(
  {
    type: Type.Enum([...FACT_TYPES]),
    unit: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    default: Type.Optional(Type.Unknown({ description: 'Stands in for a missing value.' })),
  },
  CLOSED,
)

const Action = Type.Object(
  {
    description: Type.Optional(Type.String()),
    context: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'JSON Schema of the context.' }),
    ),
    plan: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'JSON Schema of the plan.' }),
    ),
  },
  CLOSED,
)

const List = Type.Object(
  {
    file: Type.Optional(Type.String(TEXT)),
    values: Type.Optional(
      Type.Array(Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] })),
    ),
  },
  CLOSED,
)

function factorShape<S extends TSchema>(condition: S) {
  const Scale = Type.Object({ fact: Type.String(), from: Type.Number(), to: Type.Number() }, CLOSED)
  return Type.Object(
    {
      name: Type.String({ pattern: NAME_PATTERN }),
      actions: Globs,
      weight: Type.Number({ exclusiveMinimum: 0, maximum: 100 }),
      when: Type.Optional(condition),
      scale: Type.Optional(Scale),
      description: Type.Optional(Type.String()),
    },
    CLOSED,
  )
}

function ruleShape<S extends TSchema>(condition: S) {
  return Type.Object(
    {
      id: Type.String({ pattern: NAME_PATTERN }),
      actions: Globs,
      effect: Type.Enum([...EFFECTS]),
      reason: Type.String(TEXT),
      when: Type.Optional(condition),
      approval: Type.Optional(Approval),
      description: Type.Optional(Type.String()),
    },
    CLOSED,
  )
}

/** A policy file, with `condition` in the places of conditions. */
function documentShape<S extends TSchema>(condition: S) {
  return Type.Object(
    {
      apiVersion: Type.Literal(API_VERSION),
      tenant: Type.String(TEXT),
      defaults: Type.Optional(Defaults),
      thresholds: Type.Optional(Thresholds),
      timezone: Type.Optional(Type.String(TEXT)),
      approval: Type.Optional(Approval),
      explain: Type.Optional(Type.Enum(['full', 'reason'])),
      domains: Type.Optional(byName(NAME_PATTERN, Globs)),
      facts: Type.Optional(byName('', Fact)),
      actions: Type.Optional(byName(ACTION_PATTERN, Action)),
      lists: Type.Optional(byName(NAME_PATTERN, List)),
      conditions: Type.Optional(byName(NAME_PATTERN, condition)),
      risk: Type.Optional(Type.Array(factorShape(condition))),
      rules: Type.Optional(Type.Array(ruleShape(condition))),
    },
    CLOSED,
  )
}

/** What the loader checks in one go; conditions are checked node by node, for precise messages (conditions.ts). */
export const PolicyDocument = documentShape(Type.Unknown())
export type PolicyDocument = Static<typeof PolicyDocument>

/** The JSON Schema that editors use, conditions included. */
export function editorSchema(): Record<string, unknown> {
  const reference = Type.Unsafe<unknown>({ $ref: '#/$defs/condition' })
  const some = { type: 'array', minItems: 1, items: reference }
  const form = (properties: Record<string, unknown>, required: string[]) => ({
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  })
  const condition = {
    anyOf: [
      form({ fact: { type: 'string' }, operator: { type: 'string' }, value: {} }, ['fact', 'operator']),
      form({ all: some }, ['all']),
      form({ any: some }, ['any']),
      form({ not: reference }, ['not']),
      form({ condition: { type: 'string' } }, ['condition']),
    ],
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'gate-sidecar policy',
    ...documentShape(reference),
    $defs: { condition },
  }
}
