import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { ANY, type FactPath } from '../../policies/path.ts'
import type { ActionDeclaration } from '../../policies/set.ts'
import type { SchemaCompiler } from '../../policies/validators.ts'
import type { Report } from '../diagnostics/report.ts'
import { entriesOf, itemsOf, memberOf, type Node, textOf, wordOf } from '../yaml/node.ts'
import { checkSchema } from './check.ts'
import { checkReferences } from './references.ts'
import { checkUntyped } from './sense.ts'

/** Reads the declaration of one action; faults of its schemas are reported. */
export function readAction(name: string, node: Node, compiler: SchemaCompiler, report: Report): ActionDeclaration {
  const read = (root: 'context' | 'plan') => readSchema(root, memberOf(node, root), compiler, report)
  return { name, description: textOf(memberOf(node, 'description')), context: read('context'), plan: read('plan') }
}

function readSchema(
  root: 'context' | 'plan',
  node: Node | undefined,
  compiler: SchemaCompiler,
  report: Report,
): JsonObject | undefined {
  if (typeof node?.value === 'boolean') return readFlag(root, node, report)
  if (node?.entries === undefined || !isJsonObject(node.value)) return undefined
  if (!checkSchema(node, report) || !checkReferences(node, report)) return undefined
  checkUntyped(node, report)
  const types = typesOf(node)
  if (types !== undefined && !types.includes('object'))
    return report.add('GATE1407', memberOf(node, 'type') ?? node, `A ${root} is always an object.`, 'object')
  const fault = compileFault(node.value, compiler)
  if (fault === undefined) return node.value
  return report.add('GATE1402', node, `The schema does not compile: ${fault}.`)
}

/** Reads `true`, a schema that every value passes, and `false`, which none passes. */
function readFlag(root: 'context' | 'plan', node: Node, report: Report): JsonObject | undefined {
  if (node.value === true) return {}
  if (root === 'plan') return { not: {} }
  return report.add('GATE1407', node, 'Nothing can pass: false lets no context through, and every request has one.')
}

/** Faults that only the compiler finds, such as a keyword without its partner. */
function compileFault(schema: JsonObject, compiler: SchemaCompiler): string | undefined {
  try {
    compiler.ajv.compile(schema)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Types that a schema node allows, by name or by its listed values; undefined when it restricts no type. */
export function typesOf(node: Node): readonly string[] | undefined {
  const type = memberOf(node, 'type')
  if (type !== undefined) return (type.items === undefined ? [type] : itemsOf(type)).map(wordOf)
  const constant = memberOf(node, 'const')
  const values = constant === undefined ? memberOf(node, 'enum')?.items : [constant]
  return values && [...new Set(values.map(({ value }) => typeName(value)))]
}

function typeName(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

/**
 * The schema of a member, or of the items of a list, through local references; undefined when the schema does not
 * describe it.
 */
export function schemaAt(root: Node | undefined, segments: FactPath['segments']): Node | undefined {
  let node = root === undefined ? undefined : resolve(root, root)
  for (const segment of segments) {
    const next = memberSchema(node, segment)
    node = next === undefined || root === undefined ? undefined : resolve(next, root)
  }
  return node
}

/** All schemas of a member that hold together, those under `allOf` too. */
export function schemasAt(root: Node | undefined, segments: FactPath['segments'], depth = 8): Node[] {
  const whole = root === undefined ? undefined : resolve(root, root)
  if (root === undefined || whole === undefined) return []
  const parts = (node: Node, left: number): Node[] => {
    const part = resolve(node, root)
    const more = left > 0 ? itemsOf(memberOf(part, 'allOf')) : []
    return [part, ...more.flatMap((one) => parts(one, left - 1))]
  }
  return segments.reduce(
    (nodes, segment) =>
      nodes.flatMap((node) => memberSchema(node, segment) ?? []).flatMap((node) => parts(node, depth)),
    parts(whole, depth),
  )
}

function memberSchema(node: Node | undefined, segment: FactPath['segments'][number]): Node | undefined {
  return segment === ANY ? itemsIn(node) : memberOf(memberOf(node, 'properties'), segment)
}

/** The schema of all items, where the value can be nothing but a list. */
function itemsIn(list: Node | undefined): Node | undefined {
  const types = list && typesOf(list)
  return types?.length === 1 && types[0] === 'array' ? memberOf(list, 'items') : undefined
}

function resolve(node: Node, root: Node): Node {
  let at = node
  // Every reference leads to another definition, and recursion is an error of its own.
  for (let steps = entriesOf(memberOf(root, '$defs')).length; steps > 0; steps -= 1) {
    const name = textOf(memberOf(at, '$ref'))?.slice('#/$defs/'.length)
    const target = name === undefined ? undefined : memberOf(memberOf(root, '$defs'), name)
    if (target === undefined) return at
    at = target
  }
  return at
}

/** All declared actions of a document, with their nodes. */
export function actionNodes(document: Node): { name: string; node: Node }[] {
  return entriesOf(memberOf(document, 'actions')).map(({ name, value }) => ({ name, node: value }))
}
