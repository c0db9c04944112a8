import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormatsModule from 'ajv-formats'
import { openApiDocument } from '../src/http/handlers.ts'

/** An answer as it came, whoever received it. */
export interface Received {
  method: string
  /** With or without a query. */
  path: string
  status: number
  contentType: string | null
  /** The parsed body. */
  body: unknown
}

interface Response {
  $ref?: string
  content?: Record<string, { schema: object; examples?: Record<string, unknown> }>
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>
  components: { responses: Record<string, Response> }
}

const document = JSON.parse(JSON.stringify(openApiDocument()), closed) as Document
const ajv = new Ajv2020({ strict: false, allErrors: true })
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default
addFormats(ajv)
ajv.addSchema(document, 'openapi')

/** In tests, unlike in the document, an object has the declared members and no others. */
function closed(_name: string, value: unknown): unknown {
  const isObjectSchema =
    typeof value === 'object' && value !== null && 'properties' in value && 'type' in value && value.type === 'object'
  return isObjectSchema ? { additionalProperties: false, ...value } : value
}

const templates = Object.keys(document.paths).map((path) => ({
  path,
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
}))

/** Holds an answer to what the OpenAPI document declares for its route: status, media type, shape, error code. */
export function assertDeclared(received: Received): void {
  const { method, status, contentType, body } = received
  // The document declares no HEAD, which is GET without the body.
  if (method === 'HEAD') return
  const [path = ''] = received.path.split('?')
  const note = `${method} ${path} answered ${status} ${JSON.stringify(body)?.slice(0, 2000)}`
  const template = templates.find(({ pattern }) => pattern.test(path))?.path
  const operation = template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()]
  if (template === undefined || operation === undefined) {
    assert.ok([400, 404, 405, 421].includes(status), `${note}, but is not declared`)
    return
  }
  const declared = operation.responses[status]
  assert.ok(declared, `${note}, a status that is not declared`)
  const mediaType = contentType?.split(';')[0] ?? ''
  const pointer = declared.$ref ?? `#/paths/${escaped(template)}/${method.toLowerCase()}/responses/${status}`
  const name = declared.$ref?.split('/').at(-1)
  const response = name === undefined ? declared : document.components.responses[name]
  const content = response?.content?.[mediaType]
  assert.ok(content, `${note} as ${mediaType}, which is not declared`)
  if (!mediaType.endsWith('json')) return
  const validate = ajv.getSchema(`openapi${pointer}/content/${escaped(mediaType)}/schema`)
  assert.ok(validate, pointer)
  assert.ok(validate(body), `${note}: ${ajv.errorsText(validate.errors)}`)
  const code = (body as { error?: string }).error
  if (code !== undefined && status >= 400)
    assert.ok(code in (content.examples ?? {}), `${note}, a code that is not declared`)
}

// RFC 6901, section 3.
function escaped(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** For a test with a server of its own. */
export const plainFetch = globalThis.fetch

/** Every answer that a test fetches from this machine is held to the document, whatever the test is about. */
globalThis.fetch = async (input, init) => {
  const response = await plainFetch(input, init)
  const { pathname } = new URL(response.url)
  const { status, headers } = response
  const contentType = headers.get('content-type')
  const method = init?.method ?? 'GET'
  if (!contentType?.includes('json')) {
    assertDeclared({ method, path: pathname, status, contentType, body: undefined })
    return response
  }
  // A clone would copy each byte.
  const text = await response.text()
  assertDeclared({ method, path: pathname, status, contentType, body: JSON.parse(text) })
  return new Response(text, { status, headers })
}
