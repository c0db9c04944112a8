import { openApiDocument } from '../src/http/handlers.ts'
import { ROUTES, type RouteId, type RouteRule } from '../src/keys/routes.ts'

/** Parts of the OpenAPI document for generated clients: the named shapes, and the routes. */

export type Schema = { readonly [keyword: string]: unknown }

interface Parameter {
  name: string
  in: string
  description: string
  schema: Schema
}

interface Operation {
  operationId: string
  summary: string
  parameters: (Parameter | { $ref: string })[]
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

/**
 * Form of an answer: `data` in an envelope (object, list, page of a list, or items with a cursor), or alone.
 */
type Form = 'object' | 'list' | 'page' | 'cursor' | 'json' | 'text'

export interface ApiRoute {
  id: string
  summary: string
  method: string
  /** Path with its parameters as `:name`. */
  path: string
  params: string[]
  query: Parameter[]
  body: Schema | undefined
  needsBody: boolean
  /** Schema of the data that a caller gets, without its envelope if it has one. */
  data: Schema
  form: Form
  /** Safe way to repeat a request: under its Idempotency-Key, as it is (it changes nothing or the same), or none. */
  repeat: 'with_key' | 'as_is' | 'never'
}

interface Document {
  components: { schemas: Record<string, Schema> }
  paths: Record<string, Record<string, Operation>>
}

const document = (): Document => openApiDocument() as unknown as Document

/** Each shape that has a name, in the order of the document. */
export function namedSchemas(): [name: string, schema: Schema][] {
  return Object.entries(document().components.schemas)
}

/** The routes of our own interface: those in the protocols of others have clients of their own. */
export function apiRoutes(): ApiRoute[] {
  return Object.entries(document().paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => ruleOf(operationId).facade === undefined)
      .map(([method, operation]) => apiRoute(path, method.toUpperCase(), operation)),
  )
}

function ruleOf(id: string): RouteRule {
  return ROUTES[id as RouteId]
}

function apiRoute(path: string, method: string, operation: Operation): ApiRoute {
  const { operationId: id, summary, parameters, requestBody } = operation
  const own = parameters.filter((one): one is Parameter => 'in' in one)
  return {
    id,
    summary,
    method,
    path: path.replace(/\{(\w+)\}/g, ':$1'),
    params: own.filter((one) => one.in === 'path').map(({ name }) => name),
    query: own.filter((one) => one.in === 'query'),
    body: requestBody?.content['application/json']?.schema,
    needsBody: requestBody?.required ?? false,
    ...answerOf(operation),
    repeat: repeatOf(id),
  }
}

function repeatOf(id: string): ApiRoute['repeat'] {
  const route = ruleOf(id)
  if (route.idempotent) return 'with_key'
  return route.method !== 'POST' || route.reads ? 'as_is' : 'never'
}

function answerOf({ responses }: Operation): { data: Schema; form: Form } {
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(responses[200]?.content ?? {})
  if (type !== 'application/json') return { data: { type: 'string' }, form: 'text' }
  const { success, data, page } = (schema.properties ?? {}) as Record<string, Schema>
  if (success === undefined || data === undefined) return { data: schema, form: 'json' }
  if (page !== undefined) return { data, form: 'page' }
  if (data.type === 'array') return { data, form: 'list' }
  return { data, form: cursorIn(data) === undefined ? 'object' : 'cursor' }
}

/** Shapes of the items and of the cursor, in the data of a list that is continued by a cursor. */
export function cursorIn(data: Schema): { items: Schema; cursor: Schema } | undefined {
  const [, { properties, required } = {}] = namedSchemas().find(([name]) => refOf(name) === data.$ref) ?? []
  const { items, ...others } = (properties ?? {}) as Record<string, Schema>
  if (items === undefined || others.next === undefined) return undefined
  const names = (required as string[]).filter((name) => name !== 'items')
  return { items, cursor: { type: 'object', properties: others, required: names } }
}

const refOf = (name: string): string => `#/components/schemas/${name}`
