import { EVENTS } from '../src/audit/events.ts'
import { RANGE_STATUSES } from '../src/audit/range.ts'
import { type ApiRoute, apiRoutes, namedSchemas, type Schema } from './api-routes.ts'

/**
 * Writes src/client/api.ts from the OpenAPI document: the types of every request and answer, and the table of routes. The client
 * stands alone and imports nothing of the service, so what they share is written into it.
 */

const HEAD = `// Written by \`npm run docs\` from the shapes by which the service parses and answers. Do not edit.\n`
/** Limit of a line of code, in characters. */
const WIDTH = 120
/** Union of words or literals. */
const UNION = /^('[^']*'|\w+)( \| ('[^']*'|\w+))+$/
const REF = '#/components/schemas/'

/** The text of src/client/api.ts. */
export function clientTypes(): string {
  const routes = apiRoutes()
  return [
    HEAD,
    ...namedSchemas().map(([name, schema]) => declaration(name, schema)),
    `/** Input and output of each route, by its name. */\nexport interface Api {\n${routes.map(apiMember).join('\n')}\n}\n`,
    `export const ROUTES = {\n${routes.map(tableRow).join('\n')}\n} as const\n`,
    meanings('EVENTS', 'Types of entries that the service itself writes, and what each records.', EVENTS),
    meanings('RANGE_STATUSES', 'Results of verifying a part of a chain.', RANGE_STATUSES),
  ].join('\n')
}

function apiMember({ id, summary, params, query, body, needsBody, data, form }: ApiRoute): string {
  const inQuery = query.map(({ name, description, schema }) =>
    member(name, { ...schema, description }, false, '      '),
  )
  return [
    comment(summary, '  '),
    `  ${id}: {`,
    ...(params.length > 0 ? [`    params: { ${params.map((name) => `${name}: string`).join('; ')} }`] : []),
    ...(inQuery.length > 0 ? ['    query: {', ...inQuery, '    }'] : []),
    ...(body === undefined ? [] : [`    body${needsBody ? '' : '?'}: ${typeOf(body, '    ')}`]),
    `    data: ${typeOf(data, '    ')}`,
    ...(form === 'page' ? ['    page: Page'] : []),
    '  }',
  ].join('\n')
}

function tableRow({ id, method, path, repeat, form }: ApiRoute): string {
  return `  ${id}: { method: '${method}', path: '${path}', repeat: '${repeat}', form: '${form}' },`
}

/** Declares a table with the meanings of words, for people who see them. */
function meanings(name: string, description: string, table: Readonly<Record<string, string>>): string {
  const rows = Object.entries(table).map(([word, meaning]) => {
    const key = /^[a-z]+$/.test(word) ? word : `'${word}'`
    const line = `  ${key}: ${quoted(meaning)},`
    return line.length > WIDTH ? `  ${key}:\n    ${quoted(meaning)},` : line
  })
  return `/** ${description} */\nexport const ${name} = {\n${rows.join('\n')}\n} as const\n`
}

function quoted(text: string): string {
  return text.includes("'") ? JSON.stringify(text) : `'${text}'`
}

function declaration(name: string, schema: Schema): string {
  const head = schema.description === undefined ? '' : `${comment(String(schema.description), '')}\n`
  const isInterface = schema.type === 'object' && schema.properties !== undefined
  const type = typeOf({ ...schema, description: undefined }, '')
  if (isInterface) return `${head}export interface ${name} ${type}\n`
  const start = `export type ${name} =`
  return `${head}${start}${inWidth(start, type, '')}\n`
}

function member(name: string, schema: Schema, isRequired: boolean, indent: string): string {
  const { description } = schema
  const head = description === undefined || description === '' ? '' : `${comment(String(description), indent)}\n`
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`
  const start = `${indent}${key}${isRequired ? '' : '?'}:`
  return `${head}${start}${inWidth(start, typeOf(schema, indent), indent)}`
}

/** Places a type after the start of its line; a union that is too long for it gets a line for each of its types. */
function inWidth(start: string, type: string, indent: string): string {
  const isLong = start.length + 1 + type.length > WIDTH && UNION.test(type)
  return isLong ? inLines(type, indent) : ` ${type}`
}

function comment(text: string, indent: string): string {
  return `${indent}/** ${text.replaceAll('*/', '*\u200b/')} */`
}

/** A schema as TypeScript. Keywords that only narrow a value, such as `pattern`, have no type. */
function typeOf(schema: Schema, indent: string): string {
  const { $ref, enum: values, const: value, anyOf, type } = schema
  if (typeof $ref === 'string') return $ref.slice(REF.length)
  if (Array.isArray(values)) return values.map(literal).join(' | ')
  if (value !== undefined) return literal(value)
  if (Array.isArray(anyOf)) return anyOf.map((one: Schema) => typeOf(one, indent)).join(' | ')
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one }, indent)).join(' | ')
  if (type === 'array') return arrayOf(schema.items as Schema, indent)
  if (type === 'object') return objectOf(schema, indent)
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  if (type === undefined) return 'unknown'
  throw new Error(`a schema of the type ${String(type)} has no type here`)
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}

/** A union, a line for each part. */
function inLines(type: string, indent: string): string {
  return type
    .split(' | ')
    .map((part) => `\n${indent}  | ${part}`)
    .join('')
}

function arrayOf(items: Schema, indent: string): string {
  const type = typeOf(items, indent)
  return /^\w+(\[\])*$|^\{[\s\S]*\}$/.test(type) ? `${type}[]` : `(${type})[]`
}

function objectOf({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties as Schema, indent) : 'unknown'
    return `{ [member: string]: ${values} }`
  }
  const inner = `${indent}  `
  const members = Object.entries(properties as Record<string, Schema>).map(([name, schema]) =>
    member(name, schema, (required as string[]).includes(name), inner),
  )
  return `{\n${members.join('\n')}\n${indent}}`
}
