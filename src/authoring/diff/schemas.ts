import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { FactPath } from '../../policies/path.ts'
import type { PolicySet } from '../../policies/set.ts'
import { sampleOf } from './pattern-sample.ts'

/** Paths of members that a schema names. */
export function schemaPaths(sets: readonly PolicySet[], action: string): FactPath[] {
  return sets.flatMap((set) => {
    const { context } = set.actions.get(action) ?? {}
    const { properties } = context ?? {}
    return isJsonObject(properties)
      ? Object.keys(properties).map((name) => ({ text: `context.${name}`, root: 'context', segments: [name] }))
      : []
  })
}

/** The schema of a member, along `properties`. */
export function schemaAt(schema: JsonObject | undefined, { segments }: FactPath): JsonObject | undefined {
  let at: Json | undefined = schema
  for (const segment of segments) {
    const properties: Json | undefined = isJsonObject(at) ? at.properties : undefined
    at = isJsonObject(properties) && typeof segment === 'string' ? properties[segment] : undefined
  }
  return isJsonObject(at) ? at : undefined
}

/** Constants of a schema, bounds with what lies inside them, and a value of its type. */
export function schemaValues(schema: JsonObject): Json[] {
  const { enum: values, const: only, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const bounds = [minimum, maximum, exclusiveMinimum, exclusiveMaximum].filter((one) => typeof one === 'number')
  const sample = typeSample(schema)
  return [
    ...(Array.isArray(values) ? values : []),
    ...(only === undefined ? [] : [only]),
    ...(sample === undefined ? [] : [sample]),
    ...bounds,
  ]
}

/** Texts of the formats that schemas may ask for. */
const FORMATS: Readonly<Record<string, string>> = {
  email: 'a@example.com',
  'date-time': '2026-01-05T12:00:00Z',
  date: '2026-01-05',
  time: '12:00:00Z',
  uri: 'https://example.com/',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '00000000-0000-4000-8000-000000000000',
}

/** A value of the type of a schema, inside its bounds. */
export function typeSample(schema: JsonObject): Json | undefined {
  const { type, pattern, format, minLength, minimum, exclusiveMinimum, maximum, items, minItems } = schema
  switch ([type ?? null].flat()[0]) {
    case 'number':
    case 'integer': {
      const least =
        typeof minimum === 'number' ? minimum : typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : 1
      return typeof maximum === 'number' ? Math.min(maximum, least) : least
    }
    case 'string': {
      const text = typeof pattern === 'string' ? sampleOf(pattern) : FORMATS[String(format)]
      return text ?? 'x'.repeat(typeof minLength === 'number' ? Math.max(1, minLength) : 1)
    }
    case 'boolean':
      return true
    case 'array': {
      const item = isJsonObject(items) ? sampleOfSchema(items) : 'x'
      return Array<Json>(typeof minItems === 'number' ? Math.max(1, minItems) : 1).fill(item ?? 'x')
    }
    case 'object':
      return {}
    default:
      return undefined
  }
}

/** A value that fits a schema, as far as required members, types and constants go. */
export function sampleOfSchema(schema: JsonObject | undefined): Json | undefined {
  if (schema === undefined) return undefined
  const { required, properties } = schema
  if (!isJsonObject(properties)) return schemaValues(schema)[0]
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  const members = names.map((name) => {
    const member = properties[name]
    return [name, (isJsonObject(member) ? sampleOfSchema(member) : undefined) ?? 'x'] as const
  })
  return Object.fromEntries(members)
}
