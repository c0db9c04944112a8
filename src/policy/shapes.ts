import Type, { type Static, type TSchema } from 'typebox'
import { ACTION_PATTERN } from '../base/glob.ts'
import { EFFECTS, FACT_TYPES } from './set.ts'
import { DEFAULT_EXPLAIN, DEFAULT_REASON, DEFAULT_TERMS, DEFAULT_THRESHOLDS, DEFAULT_TIMEZONE } from './settings.ts'

export const API_VERSION = 'gate-sidecar/v1'
/** How rules, factors, lists, conditions and domains are called. */
export const NAME_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$'

const CLOSED = { additionalProperties: false }
const TEXT = { minLength: 1 }
const POINTS = { minimum: 0, maximum: 100 }
const Globs = Type.Array(Type.String(), {
  minItems: 1,
  description: 'Action patterns: * is one segment or part of one, ** any number.',
})

/** A mapping from names to values. Not Type.Record, which cannot tell a malformed name from an unknown key. */
function byName<S extends TSchema>(pattern: string, value: S, description: string) {
  return Type.Unsafe<Record<string, Static<S>>>({
    type: 'object',
    description,
    propertyNames: { pattern },
    additionalProperties: value,
  })
}

const Approval = Type.Object(
  {
    quorum: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        default: DEFAULT_TERMS.quorum,
        description: 'Distinct people who must approve.',
      }),
    ),
    expiresIn: Type.Optional(
      Type.String({
        default: '30m',
        description: 'How long an approval may be waited for and used: an integer and s, m, h or d; 1s to 90d.',
      }),
    ),
    selfApproval: Type.Optional(
      Type.Boolean({ default: DEFAULT_TERMS.selfApproval, description: 'Whether who asks may approve.' }),
    ),
    approvers: Type.Optional(
      Type.Array(Type.String(TEXT), { minItems: 1, description: 'Key groups of which an approver holds one.' }),
    ),
    unbound: Type.Optional(
      Type.Array(Type.String(), { description: 'Paths under context and plan that may change after approval.' }),
    ),
  },
  { ...CLOSED, description: 'What an approval needs before it counts.' },
)

const Defaults = Type.Object(
  {
    decision: Type.Optional(Type.Enum(['deny', 'require_approval'], { default: 'deny' })),
    reason: Type.Optional(Type.String({ ...TEXT, default: DEFAULT_REASON })),
  },
  { ...CLOSED, description: 'What is decided where no rule decides.' },
)

const Thresholds = Type.Object(
  {
    requireApproval: Type.Optional(
      Type.Number({
        ...POINTS,
        default: DEFAULT_THRESHOLDS.requireApproval,
        description: 'From this score on, a person must approve.',
      }),
    ),
    deny: Type.Optional(
      Type.Number({
        ...POINTS,
        default: DEFAULT_THRESHOLDS.deny,
        description: 'From this score on, nothing is allowed.',
      }),
    ),
  },
  { ...CLOSED, description: 'What the risk score, 0 to 100, leads to.' },
)

const Fact = Type.Object(
  {
    type: Type.Enum([...FACT_TYPES]),
    unit: Type.Optional(Type.String({ description: 'For readers.' })),
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
    file: Type.Optional(
      Type.String({ ...TEXT, description: 'One value a line; a path in the folder of the policies.' }),
    ),
    values: Type.Optional(
      Type.Array(Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] })),
    ),
  },
  CLOSED,
)

function factorShape<S extends TSchema>(condition: S) {
  const Scale = Type.Object(
    { fact: Type.String(), from: Type.Number(), to: Type.Number() },
    { ...CLOSED, description: 'Adds none of the weight at from, all of it at to.' },
  )
  return Type.Object(
    {
      name: Type.String({ pattern: NAME_PATTERN }),
      actions: Globs,
      weight: Type.Number({ exclusiveMinimum: 0, maximum: 100, description: 'Points added to the risk score.' }),
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
      effect: Type.Enum([...EFFECTS], { description: 'Deny wins over require_approval, which wins over allow.' }),
      reason: Type.String({ ...TEXT, description: 'What the agent and the approver are told.' }),
      when: Type.Optional(condition),
      approval: Type.Optional(Approval),
      description: Type.Optional(Type.String()),
    },
    CLOSED,
  )
}

/** A policy file, with `condition` in the places of conditions. */
export function documentShape<S extends TSchema>(condition: S) {
  return Type.Object(
    {
      apiVersion: Type.Literal(API_VERSION),
      tenant: Type.String({ ...TEXT, description: 'The name of the folder.' }),
      defaults: Type.Optional(Defaults),
      thresholds: Type.Optional(Thresholds),
      timezone: Type.Optional(
        Type.String({ ...TEXT, default: DEFAULT_TIMEZONE, description: 'Of the facts time.hour and time.weekday.' }),
      ),
      approval: Type.Optional(Approval),
      explain: Type.Optional(
        Type.Enum(['full', 'reason'], {
          default: DEFAULT_EXPLAIN,
          description: 'What the agent is told of a decision.',
        }),
      ),
      domains: Type.Optional(byName(NAME_PATTERN, Globs, 'Groups of actions; an action is in one at most.')),
      facts: Type.Optional(
        byName('', Fact, 'What context and plan hold, by path. If any is declared, all that rules ask must be.'),
      ),
      actions: Type.Optional(
        byName(ACTION_PATTERN, Action, 'What agents can do; context and plan are held to the schemas.'),
      ),
      lists: Type.Optional(byName(NAME_PATTERN, List, 'Values for the operators inList and notInList.')),
      conditions: Type.Optional(byName(NAME_PATTERN, condition, 'Conditions that others refer to by name.')),
      risk: Type.Optional(Type.Array(factorShape(condition), { description: 'Factors of the risk score.' })),
      rules: Type.Optional(
        Type.Array(ruleShape(condition), { description: 'What is allowed, held or denied, and why.' }),
      ),
    },
    CLOSED,
  )
}

/** What the loader checks in one go; conditions are checked node by node, for precise messages (conditions.ts). */
export const PolicyDocument = documentShape(Type.Unknown())
export type PolicyDocument = Static<typeof PolicyDocument>
