import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { errorDetail, type Meter, schemaCompiler, withinWork } from '../base/schema.ts'
import { spend, UNLIMITED } from '../base/work.ts'
import type { ActionDeclaration, Validate, Validators } from './set.ts'

export type SchemaCompiler = ReturnType<typeof actionSchemaCompiler>

/** Shared by all actions of a set: making one costs more than using it. */
export function actionSchemaCompiler() {
  const meter: Meter = { work: UNLIMITED }
  return { ajv: schemaCompiler({ allErrors: false, checked: true, meter }), meter }
}

/** The compiled schemas of a declaration that was read without fault. */
export function validatorsOf({ context, plan }: ActionDeclaration, compiler: SchemaCompiler): Validators {
  return {
    context: context && validator('context', context, compiler),
    plan: plan && validator('plan', plan, compiler),
  }
}

function validator(root: 'context' | 'plan', schema: JsonObject, { ajv, meter }: SchemaCompiler): Validate {
  const validate = ajv.compile(schema)
  const { nodes, readers } = sizeOfSchema(schema, schema.$defs)
  return (value, work) => {
    const { values, characters } = measure(value, { values: 0, characters: 0 })
    const isWithin =
      spend(work, 'schemaValue', values * nodes) &&
      spend(work, 'schemaCharacter', Math.ceil((characters * readers) / 8))
    const isValid = isWithin ? withinWork(meter, work, () => validate(value)) : undefined
    if (isValid === undefined) return `${root} takes more work to validate than one check may do`
    if (isValid) return undefined
    const [error] = validate.errors ?? []
    if (error === undefined) return `${root} does not pass its schema`
    const { path, message } = errorDetail(error)
    return `${root}${path.replaceAll('/', '.')} ${message}`
  }
}

/** Keywords that read a text, or every text below a list, from its beginning to its end. */
const READERS = ['minLength', 'maxLength', 'pattern', 'format', 'propertyNames', 'patternProperties', 'uniqueItems']

/** The nodes of a schema without cycles, its references followed; `readers` are those that read texts. */
function sizeOfSchema(node: Json | undefined, defs: Json | undefined): { nodes: number; readers: number } {
  if (Array.isArray(node)) return sum(node.map((item) => sizeOfSchema(item, defs)))
  if (!isJsonObject(node)) return { nodes: 0, readers: 0 }
  const { $ref, $defs: _, ...members } = node
  const target = typeof $ref === 'string' && isJsonObject(defs) ? defs[$ref.slice('#/$defs/'.length)] : undefined
  const own = { nodes: 1, readers: READERS.filter((name) => Object.hasOwn(node, name)).length }
  return sum([own, sizeOfSchema(target, defs), ...Object.values(members).map((member) => sizeOfSchema(member, defs))])
}

interface Size {
  values: number
  characters: number
}

/** Adds the value and all below it to `size`, which is made once: requests are many. */
function measure(value: Json, size: Size): Size {
  size.values += 1
  if (typeof value === 'string') size.characters += value.length
  else if (Array.isArray(value)) for (const item of value) measure(item, size)
  else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) {
      size.characters += name.length
      measure(value[name] ?? null, size)
    }
  }
  return size
}

function sum(sizes: readonly { nodes: number; readers: number }[]): { nodes: number; readers: number } {
  return sizes.reduce((a, b) => ({ nodes: a.nodes + b.nodes, readers: a.readers + b.readers }), {
    nodes: 0,
    readers: 0,
  })
}
