import * as Type from '#typebox'
import { ACTION_PATTERN } from '../../base/glob.ts'
import { EFFECTS, FACT_TYPES, MODES, RULE_MODES } from '../../policies/set.ts'
import { DEFAULT_EXPLAIN, DEFAULT_MODE, DEFAULT_RULE_MODE, DEFAULT_TIMEZONE } from '../load/settings.ts'
import { History, Session } from './over-time.ts'
import { byName, closed, Description, Globs, NAME_PATTERN, nameOf, TEXT, text } from './parts.ts'
import { Approval, Defaults, Thresholds } from './settings.ts'

export const API_VERSION = 'gate-sidecar/v1'

const Fact = closed(
  {
    type: Type.Enum([...FACT_TYPES], {
      description: 'The type of its values; date is an RFC 3339 time with a zone. A value of another type is unknown.',
    }),
  },
  {
    unit: Type.String({ description: 'The unit of a number, for readers.', examples: ['EUR'] }),
    description: Description,
    default: Type.Unknown({
      description: 'Stands in where the value is missing or null. It has the type of the fact.',
      examples: [0, 'unknown', false],
    }),
  },
  { description: 'Declaration of a fact.', examples: [{ type: 'number', unit: 'EUR' }] },
)

function schemaOf(description: string, member: string) {
  return Type.Unsafe<Record<string, unknown> | boolean>({
    type: ['object', 'boolean'],
    description,
    examples: [{ type: 'object', required: [member] }],
  })
}

const Action = closed(
  {},
  {
    description: Description,
    context: schemaOf('Schema of the context, as JSON Schema. Another context is denied.', 'amount'),
    plan: schemaOf('Schema of a plan, as JSON Schema. Another plan is denied.', 'action'),
  },
  { description: 'Declaration of an action.', examples: [{ description: 'Moves money out.' }] },
)

const List = closed(
  {},
  {
    file: text(
      "A file in the tenant's folder with one value a line; lines that begin with # are comments.",
      'lists/sanctioned-countries.txt',
    ),
    values: Type.Array(Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] }), {
      description: 'The values themselves.',
      examples: [['ann', 'bob']],
    }),
  },
  { description: 'Either a file or values.', examples: [{ values: ['ann', 'bob'] }] },
)

const Scale = closed(
  {
    fact: Type.String({ description: 'The number that is looked at.', examples: ['context.amount'] }),
    from: Type.Number({ description: 'Here and below, the factor adds nothing.', examples: [0] }),
    to: Type.Number({
      description: 'Here and above, the factor adds all of its weight. Above from.',
      examples: [10000],
    }),
  },
  {},
  {
    description: 'Adds none of the weight at from, all of it at to, and in proportion between.',
    examples: [{ fact: 'context.amount', from: 0, to: 10000 }],
  },
)

function factorShape<S extends Type.TSchema>(condition: S) {
  return closed(
    {
      name: nameOf('Name of the factor; once in the set.', 'large-amount'),
      actions: Globs,
      weight: Type.Number({
        exclusiveMinimum: 0,
        maximum: 100,
        description: 'The most points that it adds to the risk score.',
        examples: [25],
      }),
    },
    { when: condition, scale: Scale, description: Description },
    {
      title: 'factor',
      description: 'Adds to the risk score of its actions: always, when a condition holds, or on a scale.',
    },
  )
}

function ruleShape<S extends Type.TSchema>(condition: S) {
  return closed(
    {
      id: nameOf('Name of the rule in decisions and tests; once in the set.', 'large-payments'),
      actions: Globs,
      effect: Type.Enum([...EFFECTS], {
        description: 'Decision where the rule matches. deny wins over require_approval, which wins over allow.',
      }),
      reason: text('Reason that the agent and the approver are told.', 'Large payments are looked at by a person.'),
    },
    {
      when: condition,
      mode: Type.Enum([...RULE_MODES], {
        default: DEFAULT_RULE_MODE,
        description: 'enforce, or shadow: what would be decided with the rule is recorded, and it decides nothing.',
      }),
      approval: Approval,
      description: Description,
    },
    { title: 'rule', description: 'Allows, holds or denies actions: always, or when a condition holds.' },
  )
}

/** A policy file, with `condition` in the places of conditions. */
export function documentShape<S extends Type.TSchema>(condition: S) {
  return closed(
    {
      apiVersion: Type.Literal(API_VERSION, { description: 'The format of the file.' }),
      tenant: text('The tenant: the name of the folder.', 'acme'),
    },
    {
      defaults: Defaults,
      thresholds: Thresholds,
      timezone: Type.String({
        ...TEXT,
        default: DEFAULT_TIMEZONE,
        description: 'The zone of the facts time.hour and time.weekday. In one file of the set.',
        examples: ['Europe/Berlin', 'America/New_York'],
      }),
      approval: Approval,
      mode: Type.Enum([...MODES], {
        default: DEFAULT_MODE,
        description:
          'enforce, or observe: the policies decide and record, and every action runs. In one file of the set.',
      }),
      explain: Type.Enum(['full', 'reason'], {
        default: DEFAULT_EXPLAIN,
        description: 'Part of a decision that the agent is told: all, or the reason alone. In one file of the set.',
      }),
      session: Session,
      history: History,
      ...declarationShapes(condition),
      risk: Type.Array(factorShape(condition), {
        description: 'Factors of the risk score.',
        examples: [[{ name: 'unattended', actions: ['**'], weight: 25 }]],
      }),
      rules: Type.Array(ruleShape(condition), {
        description:
          'Rules that allow, hold or deny, each with its reason. Their order does not matter between effects.',
        examples: [[{ id: 'reads', actions: ['*.read'], effect: 'allow', reason: 'Reading is part of the work.' }]],
      }),
    },
  )
}

/** Named declarations of a set. */
function declarationShapes<S extends Type.TSchema>(condition: S) {
  return {
    domains: byName(NAME_PATTERN, Globs, {
      description: 'Groups of actions, which a level 2 stop stops at once; an action is in one at most.',
      examples: [{ finance: ['payment.*', 'invoice.**'] }],
    }),
    facts: byName('', Fact, {
      description: 'Facts that context and plan hold, by path. If any is declared, all that rules ask for must be.',
      examples: [{ 'context.amount': { type: 'number', unit: 'EUR' } }],
    }),
    actions: byName(ACTION_PATTERN, Action, {
      description: 'Actions of agents; context and plan are held to the schemas before any rule is asked.',
      examples: [{ 'payment.transfer': { description: 'Moves money out.' } }],
    }),
    lists: byName(NAME_PATTERN, List, {
      description: 'Values for the operators inList and notInList.',
      examples: [{ sanctioned: { file: 'lists/sanctioned-countries.txt' } }],
    }),
    conditions: byName(NAME_PATTERN, condition, {
      description: 'Conditions that others refer to by name: {condition: name}.',
      examples: [{ abroad: { fact: 'context.country', operator: 'notEqual', value: 'DE' } }],
    }),
  }
}

/** The shape that the loader checks at once; conditions are checked node by node, for precise messages (conditions.ts). */
export const PolicyDocument = documentShape(Type.Unknown())
export type PolicyDocument = Type.Static<typeof PolicyDocument>
