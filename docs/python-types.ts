import type { Schema } from './api-routes.ts'

/** Types of Python 3.9 made from schemas: each object is a TypedDict, and one within another is named after both. */
export interface PythonTypes {
  names: string[]
  /** Their declarations. */
  texts: string[]
  /** True while a request is declared: it takes any readable list or mapping, and an answer has exact types. */
  isRequest: boolean
}

export const noTypes = (): PythonTypes => ({ names: [], texts: [], isRequest: false })

export const HEAD = '# Written by `npm run docs` from the OpenAPI document of the service. Do not edit.\n'
/** Limit of a line of Python, in characters. */
export const WIDTH = 100
const REF = '#/components/schemas/'
/** Python types by the simple types of JSON Schema. */
const SIMPLE: Record<string, string> = {
  integer: 'int',
  number: 'float',
  string: 'str',
  boolean: 'bool',
  null: 'None',
}
const TYPING = [
  ...[
    'Any',
    'Awaitable',
    'Callable',
    'Dict',
    'Final',
    'List',
    'Literal',
    'Mapping',
    'NamedTuple',
    'Optional',
    'Sequence',
  ],
  ...['TypedDict', 'Union', 'cast'],
]
const IDENTIFIER = /^(?!(?:from|import|class|def|is|in|not|and|or|if|else|pass|with|as)$)[A-Za-z_]\w*$/

/** Declares a schema with a name. */
export function declare(types: PythonTypes, name: string, schema: Schema): void {
  types.isRequest = name.endsWith('Request')
  types.names.push(name)
  const about = schema.description === undefined ? '' : String(schema.description)
  if (schema.properties !== undefined) declareObject(types, name, schema, about)
  else {
    const type = typeOf({ ...schema, description: undefined }, name, types)
    const text = about === '' ? '' : `\n${docstring(about, '')}`
    types.texts.push(`${broken(`${name} = ${type}`, '')}${text}`)
  }
}

/** Declares a list with its page. */
export function declarePage(types: PythonTypes, name: string, list: Schema, cursor: Schema | undefined): void {
  types.names.push(name)
  const page = cursor ?? { $ref: `${REF}Page` }
  declareObject(types, name, { properties: { data: list, page }, required: ['data', 'page'] }, '')
}

function declareObject(types: PythonTypes, name: string, schema: Schema, about: string): void {
  const { properties, required = [] } = schema as { properties: Record<string, Schema>; required?: string[] }
  // The client adds the tenant.
  const members = Object.entries(properties).filter(([member]) => !(types.isRequest && member === 'tenantId'))
  const fields = members.map(([member, inner]) => ({
    member: types.isRequest ? snake(member) : member,
    type: typeOf(inner, name + pascal(member), types),
    about: String(inner.description ?? ''),
    isRequired: required.includes(member),
  }))
  const must = fields.filter(({ isRequired }) => isRequired)
  const may = fields.filter(({ isRequired }) => !isRequired)
  const isNamed = must.every(({ member }) => IDENTIFIER.test(member))
  if (may.length === 0) types.texts.push(isNamed ? classText(name, 'TypedDict', about, must) : callText(name, must))
  else if (must.length === 0) types.texts.push(classText(name, 'TypedDict, total=False', about, may))
  else {
    // `NotRequired` came with Python 3.11, so the required members are in a base class.
    types.texts.push(isNamed ? classText(`_${name}`, 'TypedDict', '', must) : callText(`_${name}`, must))
    types.texts.push(classText(name, `_${name}, total=False`, about, may))
  }
}

/** Converts a name to snake case; `from` is a keyword of Python. */
export function snake(name: string): string {
  return name === 'from' ? 'from_' : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The type of a schema; an object in it is declared under the name. */
export function typeOf(schema: Schema, name: string, types: PythonTypes): string {
  const { $ref, enum: values, const: value, anyOf, type } = schema
  if (typeof $ref === 'string') return $ref.slice(REF.length)
  if (Array.isArray(values))
    return union([literals(values.filter((one) => one !== null)), ...(values.includes(null) ? ['None'] : [])])
  if (value !== undefined) return literals([value])
  if (Array.isArray(anyOf)) return union(anyOf.map((one: Schema) => typeOf(one, name, types)))
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one }, name, types)))
  if (type === 'array') {
    return `${types.isRequest ? 'Sequence' : 'List'}[${typeOf(schema.items as Schema, `${name}Item`, types)}]`
  }
  if (type === 'object') return objectOf(schema, name, types)
  if (type === undefined) return 'Any'
  const simple = SIMPLE[String(type)]
  if (simple === undefined) throw new Error(`a schema of the type ${String(type)} has no type here`)
  return simple
}

function objectOf(schema: Schema, name: string, types: PythonTypes): string {
  const { properties, additionalProperties } = schema
  if (properties !== undefined) {
    declareObject(types, name, schema, '')
    return name
  }
  const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties as Schema, name, types) : 'Any'
  return `${types.isRequest ? 'Mapping' : 'Dict'}[str, ${values}]`
}

function literals(values: readonly unknown[]): string {
  const texts = values.map((one) => (typeof one === 'boolean' ? pascal(String(one)) : JSON.stringify(one)))
  return `Literal[${texts.join(', ')}]`
}

interface Field {
  member: string
  type: string
  about: string
  isRequired: boolean
}

function classText(name: string, bases: string, about: string, fields: readonly Field[]): string {
  const lines = fields.map((field) => {
    const line = broken(`    ${field.member}: ${field.type}`, '    ')
    return field.about === '' ? line : `${line}\n${docstring(field.about, '    ')}`
  })
  const head = about === '' ? '' : `${docstring(about, '    ')}\n\n`
  const body = head === '' && lines.length === 0 ? '    pass' : lines.join('\n')
  return `class ${name}(${bases}):\n${head}${body}`.trimEnd()
}

/** Declares a TypedDict as a call, for member names that are no identifiers, such as keywords of Python. */
function callText(name: string, fields: readonly Field[]): string {
  const lines = fields.map(
    ({ member, type }) => `        "${member}": ${JSON.stringify(type).replaceAll('\\"', "'")},\n`,
  )
  return `${name} = TypedDict(\n    "${name}",\n    {\n${lines.join('')}    },\n)`
}

/** The import of the names of `typing` that a text uses. */
export function typingImport(text: string): string {
  const names = TYPING.filter((name) => new RegExp(`\\b${name}\\b`).test(text))
  return listed('from typing import', names)
}

/** A line with names, or a line for each. */
function listed(start: string, names: readonly string[]): string {
  const line = `${start} ${names.join(', ')}`
  return line.length <= WIDTH ? line : `${start} (\n${names.map((name) => `    ${name},\n`).join('')})`
}

/** A line that is too long, with a line for each of its literals. */
export function broken(line: string, indent: string): string {
  if (line.length <= WIDTH) return line
  return line.replace(/(Optional\[)?Literal\[([^\]]*)\](?:\])?/, (_, optional: string | undefined, values: string) => {
    const inner = optional === undefined ? indent : `${indent}    `
    const each = values.split(', ').map((value) => `${inner}    ${value},\n`)
    const literal = `Literal[\n${each.join('')}${inner}]`
    return optional === undefined ? literal : `Optional[\n${inner}${literal}\n${indent}]`
  })
}

function union(parts: readonly string[]): string {
  const others = [...new Set(parts.filter((part) => part !== 'None'))]
  const [first = 'None'] = others
  const either = others.length > 1 ? `Union[${others.join(', ')}]` : first
  return others.length > 0 && parts.includes('None') ? `Optional[${either}]` : either
}

const pascal = (name: string): string => name.replace(/^[a-z]/, (letter) => letter.toUpperCase())

/** Text as a docstring, in lines that are not too long. */
export function docstring(text: string, indent: string): string {
  const safe = text.replaceAll('\\', '\\\\').replaceAll('"""', "'''")
  const end = safe.endsWith('"') ? ' ' : ''
  if (!safe.includes('\n') && indent.length + safe.length + 6 <= WIDTH) return `${indent}"""${safe}${end}"""`
  const lines = `"""${safe}`.split('\n').flatMap((line) => wrapped(line, WIDTH - indent.length))
  return [...lines, '"""'].map((line) => (line === '' ? '' : indent + line)).join('\n')
}

function wrapped(line: string, width: number): string[] {
  const lines = ['']
  for (const word of line.split(' ')) {
    const last = lines.length - 1
    const longer = lines[last] === '' ? word : `${lines[last]} ${word}`
    if (longer.length <= width) lines[last] = longer
    else lines.push(word)
  }
  return lines
}
