import type { TSchema } from '#typebox'
import { isJsonObject, type Json } from '../../base/json.ts'
import type { ErrorObject } from '../../base/schema.ts'
import { FACT_TYPES } from '../../policies/set.ts'
import { DURATION_SENTENCE } from '../load/settings.ts'
import { closest } from '../suggest/closest.ts'
import { coerced, durationIn, listIn } from '../suggest/meant.ts'
import { EFFECT_WORDS, FACT_TYPE_WORDS } from '../suggest/synonyms.ts'
import { yamlText } from '../suggest/written.ts'
import { entriesOf, type Node, nullHint } from '../yaml/node.ts'

/** The part of a shape that holds a keyword. */
interface Wanted {
  /** The key at which the shape stands, such as `expiresIn`. */
  readonly key: string
  readonly schema: unknown
}

/** Keys with a duration. */
const DURATIONS = ['expiresIn', 'within', 'ago']

/** Sentence and suggestion for a value of the wrong type. */
export function typeFault(error: ErrorObject, node: Node, shape: TSchema): [string, Json | undefined] {
  if (node.path === '$') return ['A policy is a mapping of keys such as apiVersion, tenant and rules.', undefined]
  const wanted = wantedAt(shape, error.schemaPath)
  const type = String(error.params.type)
  const suggestion = node.value === null ? undefined : meantIn(node, type, wanted)
  if (node.value !== null && DURATIONS.includes(wanted.key)) return [DURATION_SENTENCE, suggestion]
  if (node.value !== null && wanted.key === 'skip')
    return ['skip says why the test is left out, such as "waits for the new list".', undefined]
  const hint = type === 'array' ? dashHint(node, wanted) : ''
  return [`The value must be ${typeNames(error.params.type)}${nullHint(node)}${hint}.`, suggestion]
}

/** Keys of a mapping at ajv's schemaPath of a keyword (`#/properties/risk/items/type`). */
export function keysAt(shape: TSchema, schemaPath: string): string[] {
  return keysOf(wantedAt(shape, schemaPath).schema)
}

function meantIn({ value, source }: Node, type: string, { key, schema }: Wanted): Json | undefined {
  if (type === 'array') return listMeant(value, schema)
  if (type === 'object') return mappingMeant(value, schema)
  if (type !== 'string') return coerced(value, type)
  if (DURATIONS.includes(key)) return durationIn(value)
  return key === 'tenant' ? source.file.split('/')[0] : coerced(value, type)
}

function listMeant(value: Json, schema: unknown): Json | undefined {
  const type = child(child(schema, 'items'), 'type')
  // A list of mappings cannot be written as one value.
  if (type === 'object' || typeof value === 'boolean') return undefined
  if (Array.isArray(type) && type.includes(typeof value)) return listIn(value)
  if (value === 'none') return child(schema, 'minItems') === undefined ? [] : undefined
  return coerced(value, 'array')
}

/** The mapping meant by a single value: `defaults: deny`, `vips: [ann, bob]`, `context.amount: number`. */
function mappingMeant(value: Json, schema: unknown): Json | undefined {
  if (isJsonObject(value)) return undefined
  const keys = keysOf(schema)
  if (keys.includes('score')) return typeof value === 'number' ? { score: value } : undefined
  if (Array.isArray(value)) {
    if (keys.includes('values')) return { values: value }
    return keys.includes('agents') ? { actions: value } : undefined
  }
  if (typeof value !== 'string') return undefined
  if (keys.includes('decision')) {
    const decisions = child(child(child(schema, 'properties'), 'decision'), 'enum')
    const decision = Array.isArray(decisions) ? closest(value, decisions.map(String), EFFECT_WORDS) : undefined
    return decision === undefined ? undefined : { decision }
  }
  if (keys.includes('identity')) return { identity: value }
  if (keys.includes('file')) return /[./]/.test(value) ? { file: value } : { values: [value] }
  const type = closest(value, FACT_TYPES, FACT_TYPE_WORDS)
  return keys.includes('unit') && type !== undefined ? { type } : undefined
}

/** Advice on a mapping that should be a list of mappings: authors name rules by keys, or forget the dash. */
function dashHint(node: Node, { schema }: Wanted): string {
  const keys = keysOf(child(schema, 'items'))
  const [entry] = entriesOf(node)
  const [name] = keys
  if (entry === undefined || name === undefined || node.source.file.endsWith('.json')) return ''
  if (keys.includes(entry.name)) return `; a dash is missing before ${entry.name}`
  return `; each item begins with a dash, as in - ${name}: ${yamlText(entry.name.slice(0, 60))}`
}

/** `a, b or c`. */
export function either(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}

function typeNames(type: unknown): string {
  const names: Record<string, string> = {
    object: 'a mapping',
    array: 'a list',
    string: 'a text',
    number: 'a number',
    integer: 'an integer',
    boolean: 'true or false',
  }
  const types = Array.isArray(type) ? type.map(String) : String(type).split(',')
  return either(types.map((name) => names[name] ?? name))
}

function wantedAt(shape: TSchema, schemaPath: string): Wanted {
  let schema: unknown = shape
  let key = ''
  for (const token of schemaPath.split('/').slice(1, -1)) {
    key = decodeURIComponent(token)
    schema = child(schema, key)
  }
  return { key, schema }
}

function keysOf(schema: unknown): string[] {
  const properties = child(schema, 'properties')
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
}

function child(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}
