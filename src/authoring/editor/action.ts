import { LIMITS } from '../load/limits.ts'
import { FORMATS, KEYWORDS, type Kind, TYPES } from '../schemas/keywords.ts'

type Schema = Readonly<Record<string, unknown>>

const SELF = { $ref: '#/$defs/schema' }
const TEXTS = { type: 'array', items: { type: 'string' } }
const PATTERN = { type: 'string', maxLength: LIMITS.pattern }

/** Schema of the value of each kind of keyword. */
const KINDS: Readonly<Record<Kind, Schema>> = {
  schema: SELF,
  schemas: { type: 'object', additionalProperties: SELF },
  patterns: { type: 'object', propertyNames: PATTERN, additionalProperties: SELF },
  schemaList: { type: 'array', minItems: 1, items: SELF },
  type: { anyOf: [{ enum: TYPES }, { type: 'array', minItems: 1, items: { enum: TYPES } }] },
  number: { type: 'number' },
  positive: { type: 'number' },
  count: { type: 'integer', minimum: 0 },
  text: { type: 'string' },
  names: TEXTS,
  needs: { type: 'object', additionalProperties: TEXTS },
  list: { type: 'array', minItems: 1 },
  flag: { type: 'boolean' },
  any: {},
  pattern: PATTERN,
  format: { enum: FORMATS },
  ref: { type: 'string', pattern: '^#/\\$defs/[^/%~]+$' },
}

/** The JSON Schema of the schemas under `actions`: the keywords of 2020-12 that a policy may use. */
export function schemaSchema(): Schema {
  const properties = Array.from(KEYWORDS, ([name, [kind, description, example]]) => [
    name,
    { ...KINDS[kind], description, examples: [example] },
  ])
  return {
    description: 'A JSON Schema (2020-12), or true or false.',
    examples: [{ type: 'string' }, { type: 'number', exclusiveMinimum: 0 }],
    type: ['object', 'boolean'],
    properties: Object.fromEntries(properties),
    additionalProperties: false,
    if: { properties: { uniqueItems: { const: true } }, required: ['uniqueItems'] },
    // Comparing all items with all others takes quadratic time in the caller's input.
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['maxItems'], properties: { maxItems: { maximum: LIMITS.uniqueItems } } },
  }
}

/** The schema of a context or plan, which is always an object. */
export const OBJECT_SCHEMA: Schema = {
  allOf: [
    SELF,
    { properties: { type: { anyOf: [{ const: 'object' }, { type: 'array', contains: { const: 'object' } }] } } },
  ],
}
