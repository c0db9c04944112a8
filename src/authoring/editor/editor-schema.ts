import * as Type from '#typebox'
import type { FactType } from '../../policies/set.ts'
import { documentShape } from '../shapes/document.ts'
import { NAME_PATTERN, STEP_PATTERN } from '../shapes/parts.ts'
import { SECTIONS } from '../test-files/cases.ts'
import { editorTestFile } from '../test-files/shapes.ts'
import { RESERVED_KEYS } from '../yaml/node.ts'
import { OBJECT_SCHEMA, schemaSchema } from './action.ts'
import { conditionSchema } from './condition.ts'
import {
  ACTION,
  DECLARED_PATH,
  DURATION,
  GLOB,
  NOT_BLANK,
  NUMBER_PATH,
  OUTSIDE,
  PLURAL,
  SINGLE_PATH,
  TIME,
} from './patterns.ts'

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

type Schema = Readonly<Record<string, unknown>>

/**
 * The JSON Schema of a policy file for editors: the shape that the loader checks, and further checks that a schema
 * can express.
 */
export function editorSchema(): Record<string, unknown> {
  const condition = Type.Unsafe<unknown>({
    $ref: '#/$defs/condition',
    description: 'Condition under which it applies; always, if it is left out.',
    examples: [{ fact: 'context.amount', operator: 'greaterThan', value: 1000 }],
  })
  return {
    $schema: DIALECT,
    $id: 'urn:gate-sidecar:schema:policy',
    title: 'gate-sidecar policy',
    description: 'A file of policies/<tenant>/. All files of the folder form one set.',
    ...refined({ ...documentShape(condition) }, '', REFINEMENTS),
    $defs: { condition: conditionSchema(), schema: schemaSchema() },
  }
}

/** The JSON Schema of a `*.test.yaml` file that editors use. */
export function testFileSchema(): Record<string, unknown> {
  return {
    $schema: DIALECT,
    $id: 'urn:gate-sidecar:schema:test',
    title: 'gate-sidecar policy tests',
    description: 'A *.test.yaml file of policies/<tenant>/: what the policies must decide.',
    ...refined({ ...editorTestFile() }, '', TEST_REFINEMENTS),
  }
}

const APPROVAL: Readonly<Record<string, Schema>> = {
  'approval.expiresIn': { pattern: DURATION },
  'approval.unbound[]': { pattern: SINGLE_PATH },
}

/**
 * Checks that the loader makes beside the shape, with sentences of its own, and that a schema can express. The keys
 * are places: `[]` are the items of a list, `*` the values of a mapping.
 */
export const REFINEMENTS: Readonly<Record<string, Schema>> = {
  timezone: { pattern: '^[A-Za-z]' },
  'session.fact': { pattern: SINGLE_PATH },
  'session.taken': names(STEP_PATTERN),
  'session.taken.*[]': GLOB,
  ...counterRefinements('count'),
  ...counterRefinements('sum'),
  'history.sum.*.fact': { pattern: SINGLE_PATH },
  'defaults.reason': { pattern: NOT_BLANK },
  ...APPROVAL,
  ...Object.fromEntries(Object.entries(APPROVAL).map(([place, schema]) => [`rules[].${place}`, schema])),
  domains: names(NAME_PATTERN),
  'domains.*[]': GLOB,
  facts: {
    ...names(DECLARED_PATH),
    allOf: [{ patternProperties: { [PLURAL]: { properties: { type: { const: 'list' } } } } }],
  },
  'facts.*': { allOf: defaultsByType() },
  actions: names(ACTION),
  'actions.*.context': { ...OBJECT_SCHEMA, not: { const: false } },
  'actions.*.plan': OBJECT_SCHEMA,
  lists: names(NAME_PATTERN),
  'lists.*': { oneOf: [{ required: ['file'] }, { required: ['values'] }] },
  'lists.*.file': { not: { pattern: OUTSIDE } },
  conditions: names(NAME_PATTERN),
  'conditions.*': { description: 'Condition that the name stands for.' },
  'risk[].actions[]': GLOB,
  'risk[].scale.fact': { pattern: NUMBER_PATH },
  'rules[]': { dependentSchemas: { approval: { properties: { effect: { const: 'require_approval' } } } } },
  'rules[].actions[]': GLOB,
  'rules[].reason': { pattern: NOT_BLANK },
}

/** Refinements of test files. */
export const TEST_REFINEMENTS: Readonly<Record<string, Schema>> = {
  now: { pattern: TIME },
  'tests[].now': { pattern: TIME },
  'histories.*[].ago': { pattern: DURATION },
  ...Object.fromEntries(
    ['actions', ...Object.values(SECTIONS)].map((name) => [`tests[].matrix.${name}`, { uniqueItems: true }]),
  ),
}

function counterRefinements(kind: string): Readonly<Record<string, Schema>> {
  return {
    [`history.${kind}`]: names(STEP_PATTERN),
    [`history.${kind}.*.actions[]`]: GLOB,
    [`history.${kind}.*.within`]: { pattern: DURATION },
  }
}

function names(pattern: string): Schema {
  return { propertyNames: { pattern, not: { enum: [...RESERVED_KEYS] } } }
}

/** The default of a fact has its type. */
function defaultsByType(): Schema[] {
  const values: Readonly<Record<FactType, Schema>> = {
    number: { type: 'number' },
    integer: { type: 'integer' },
    string: { type: 'string' },
    boolean: { type: 'boolean' },
    date: { type: 'string', pattern: TIME },
    list: { type: 'array' },
    object: { type: 'object' },
  }
  return Object.entries(values).map(([type, value]) => ({
    if: { properties: { type: { const: type } }, required: ['type'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { default: value } },
  }))
}

/** The schema with the refinements of this place and of those below it. */
function refined(schema: Schema, place: string, refinements: Readonly<Record<string, Schema>>): Schema {
  const { properties, items, additionalProperties } = schema
  const below = (name: string): string => (place === '' ? name : `${place}.${name}`)
  return {
    ...schema,
    ...(isSchema(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [
          name,
          isSchema(one) ? refined(one, below(name), refinements) : one,
        ]),
      ),
    }),
    ...(isSchema(items) && { items: refined(items, `${place}[]`, refinements) }),
    ...(isSchema(additionalProperties) && {
      additionalProperties: refined(additionalProperties, below('*'), refinements),
    }),
    ...refinements[place],
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}
