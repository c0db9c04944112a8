import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { isVisible, oneLine } from '../../base/visible.ts'
import { actionSchemaCompiler, type SchemaCompiler } from '../../policies/validators.ts'
import { createReport } from '../diagnostics/report.ts'
import { readAction } from '../schemas/actions.ts'
import { childPath, memberOf } from '../yaml/node.ts'
import { readDocument } from '../yaml/read-document.ts'

export interface Reduced {
  /** Undefined when nothing of the schema can be used. */
  schema: JsonObject | undefined
  /** Paths of the parts that were left out. */
  dropped: readonly string[]
}

const ROOT = '$.actions.tool.context'
const MAX_ROUNDS = 8
const MAX_DESCRIPTION = 300
const MAX_NAME = 256

/** Members whose own members are names, each with a schema. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas'])
/** Members that are values. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'required', 'dependentRequired', 'type'])
const PROSE = new Set(['title', 'description', '$comment'])
/** Keywords under which a reduced schema can restrict more: with a part left out it could refuse a valid value. */
const FRAGILE = new Set(['not', 'if', 'oneOf', 'contains', 'unevaluatedProperties', 'unevaluatedItems'])

/** Reduces foreign schemas to the keywords of the policy language, as the loader itself defines them. */
export function schemaReducer(): (schema: JsonObject) => Reduced {
  const compiler = actionSchemaCompiler()
  return (schema) => {
    const whole = reduce(modern(schema), compiler)
    if (whole.schema !== undefined) return whole
    const { schema: outline } = reduce(outlineOf(schema), compiler)
    return {
      schema: outline,
      dropped: [outline === undefined ? 'all of it' : 'all but the names and types of arguments'],
    }
  }
}

/** Removes the parts that the loader reports, repeatedly: references to them are at fault next. */
function reduce(schema: JsonObject, compiler: SchemaCompiler): Reduced {
  const dropped: string[] = []
  let current = schema
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const faults = faultsOf(current, compiler)
    if (faults.has(ROOT) || faults.has('')) break
    const pruned = prune(current, 'schema', ROOT, { faults, dropped })
    if (!isJsonObject(pruned)) break
    if (faults.size === 0 && JSON.stringify(pruned) === JSON.stringify(current)) return { schema: current, dropped }
    current = pruned
  }
  return { schema: undefined, dropped: [] }
}

/** Paths of the faults that the loader reports for the schema; empty for one of the whole text. */
function faultsOf(schema: JsonObject, compiler: SchemaCompiler): Set<string> {
  const report = createReport()
  // At the depth at which it will stand in the policy.
  const text = JSON.stringify({ actions: { tool: { context: schema } } })
  const root = readDocument('tools.json', new TextEncoder().encode(text), report)
  const action = memberOf(memberOf(root, 'actions'), 'tool')
  if (action !== undefined) readAction('tool', action, compiler, report)
  return new Set(report.diagnostics().map(({ path }) => path))
}

type Role = 'schema' | 'map' | 'data'

interface Walk {
  faults: ReadonlySet<string>
  /** Paths of the parts that were left out; prune adds to them. */
  dropped: string[]
}

/** The value without parts that are faulty or not visible; undefined when it cannot stand without them. */
function prune(value: Json, role: Role, path: string, walk: Walk): Json | undefined {
  if (walk.faults.has(path)) return undefined
  if (typeof value === 'string') return isVisible(value) ? value : undefined
  if (Array.isArray(value)) {
    const items: Json[] = []
    for (const [i, item] of value.entries()) {
      const kept = prune(item, role, childPath(path, i), walk)
      if (kept === undefined) return undefined
      items.push(kept)
    }
    return items
  }
  if (!isJsonObject(value)) return value
  return role === 'schema' ? pruneSchema(value, path, walk) : pruneMap(value, role, path, walk)
}

function pruneMap(map: JsonObject, role: 'map' | 'data', path: string, walk: Walk): JsonObject | undefined {
  const kept: JsonObject = Object.create(null)
  for (const [key, value] of Object.entries(map)) {
    const at = childPath(path, key)
    const usable = isVisible(key) && key.length <= MAX_NAME
    const child = usable ? prune(value, role === 'map' ? 'schema' : 'data', at, walk) : undefined
    if (child !== undefined && !walk.faults.has(at)) kept[key] = child
    else if (role === 'data') return undefined
    else walk.dropped.push(relative(at))
  }
  return kept
}

function pruneSchema(schema: JsonObject, path: string, walk: Walk): JsonObject {
  const kept: JsonObject = Object.create(null)
  const before = walk.dropped.length
  let losesNames = false
  for (const [key, value] of Object.entries(schema)) {
    const at = childPath(path, key)
    const start = walk.dropped.length
    const child = pruneMember(key, value, at, walk)
    const isLess = walk.dropped.length > start
    if (child === undefined || (isLess && FRAGILE.has(key))) {
      walk.dropped.splice(start, walk.dropped.length - start, relative(at))
    } else kept[key] = child
    losesNames ||= (key === 'properties' || key === 'patternProperties') && namesOf(kept[key]) < namesOf(value)
  }
  const isLess = walk.dropped.length > before
  // Members whose description is lost must not count as unknown.
  const unsure = [
    ...(losesNames ? ['additionalProperties'] : []),
    ...(isLess ? ['unevaluatedProperties', 'unevaluatedItems'] : []),
  ]
  for (const key of [...unsure, ...halves(kept)]) {
    if (!(key in kept)) continue
    delete kept[key]
    walk.dropped.push(relative(childPath(path, key)))
  }
  return kept
}

function pruneMember(key: string, value: Json, path: string, walk: Walk): Json | undefined {
  if (walk.faults.has(path)) return undefined
  if (PROSE.has(key) && typeof value === 'string') return oneLine(value, MAX_DESCRIPTION)
  return prune(value, MAPS.has(key) ? 'map' : DATA.has(key) ? 'data' : 'schema', path, walk)
}

/** The keywords if, then and else, unless they are complete. */
function halves(schema: JsonObject): string[] {
  const complete = 'if' in schema && ('then' in schema || 'else' in schema)
  return complete ? [] : ['if', 'then', 'else']
}

function namesOf(value: Json | undefined): number {
  return isJsonObject(value) ? Object.keys(value).length : 0
}

function relative(path: string): string {
  return path.slice(ROOT.length).replace(/^\./, '')
}

/**
 * Translates older drafts, which have `definitions` for `$defs`; drops a root's `$schema` and `$id`, which do not
 * concern arguments.
 */
function modern({ $schema: _, $id: __, definitions = null, ...schema }: JsonObject): JsonObject {
  if (!isJsonObject(definitions) || schema.$defs !== undefined) return schema
  const renamed = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(renamed)
    if (!isJsonObject(value)) return value
    const members = Object.entries(value).map(([key, child]): [string, Json] => [
      key,
      key === '$ref' && typeof child === 'string' ? child.replace(/^#\/definitions\//, '#/$defs/') : renamed(child),
    ])
    return Object.fromEntries(members)
  }
  return { ...schema, ...(renamed({ ...schema, $defs: definitions }) as JsonObject) }
}

/** Reduces a schema to the names, types and required members of the arguments. */
function outlineOf({ properties = null, required = null }: JsonObject): JsonObject {
  const types = Object.entries(isJsonObject(properties) ? properties : {}).map(([name, schema]): [string, Json] => [
    name,
    isJsonObject(schema) && schema.type !== undefined ? { type: schema.type } : {},
  ])
  return {
    type: 'object',
    properties: Object.fromEntries(types),
    ...(Array.isArray(required) && { required: required.filter((name) => typeof name === 'string') }),
  }
}
