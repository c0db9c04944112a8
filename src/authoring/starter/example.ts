import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'

/** Texts of the formats that schemas may name. */
const TEXTS: Readonly<Record<string, string>> = {
  date: '2026-01-14',
  'date-time': '2026-01-14T10:00:00Z',
  duration: 'PT1H',
  email: 'ann@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  time: '10:00:00Z',
  uri: 'https://example.com/',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
}
const MAX_DEPTH = 16
const MAX_LENGTH = 1000

/** A value that is likely to pass the schema: the required members only. The caller must check whether it does. */
export function exampleOf(schema: Json, root: Json = schema, depth = 0): Json {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return 'text'
  const again = (part: Json): Json => exampleOf(part, root, depth + 1)
  if (schema.const !== undefined) return schema.const
  for (const values of [schema.enum, schema.examples])
    if (Array.isArray(values) && values[0] !== undefined) return values[0]
  if (schema.default !== undefined && schema.default !== null) return schema.default
  if (typeof schema.$ref === 'string') return again(definition(root, schema.$ref))
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices) && choices[0] !== undefined) return again(choices[0])
  const type = Array.isArray(schema.type) ? schema.type.find((name) => name !== 'null') : schema.type
  if (type === 'object' || isJsonObject(schema.properties)) return exampleObject(schema, again)
  if (type === 'array') return exampleList(schema, depth, again)
  if (type === 'number' || type === 'integer') return exampleNumber(schema)
  if (type === 'boolean') return false
  return type === 'null' ? null : exampleText(schema)
}

function exampleObject({ properties = null, required = null }: JsonObject, again: (part: Json) => Json): JsonObject {
  const schemas = isJsonObject(properties) ? properties : {}
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  return Object.fromEntries(
    names.map((name) => [name, again(Object.hasOwn(schemas, name) ? (schemas[name] ?? true) : true)]),
  )
}

/** Limits lengths: nested lists would grow beyond measure. */
function exampleList({ minItems, items = true }: JsonObject, depth: number, again: (part: Json) => Json): Json[] {
  const length = Math.min(countOf(minItems), depth > 2 ? 1 : 10)
  return length === 0 ? [] : Array.from({ length }, () => again(items))
}

function exampleNumber({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: JsonObject): number {
  if (typeof minimum === 'number') return minimum
  if (typeof exclusiveMinimum === 'number') return exclusiveMinimum + 1
  if (typeof multipleOf === 'number') return multipleOf
  if (typeof maximum === 'number') return Math.min(1, maximum)
  return typeof exclusiveMaximum === 'number' ? Math.min(1, exclusiveMaximum - 1) : 1
}

function exampleText({ format, minLength, maxLength }: JsonObject): string {
  if (typeof format === 'string') return TEXTS[format] ?? 'text'
  const text = 'text'.padEnd(countOf(minLength), '.')
  return typeof maxLength === 'number' ? text.slice(0, maxLength) : text
}

function countOf(value: Json | undefined): number {
  return typeof value === 'number' ? Math.min(value, MAX_LENGTH) : 0
}

function definition(root: Json, reference: string): Json {
  const name = reference.slice('#/$defs/'.length)
  const definitions = isJsonObject(root) ? root.$defs : undefined
  return isJsonObject(definitions) ? (definitions[name] ?? true) : true
}
