import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { ROUTES, type RouteId, type RouteRule } from '../../src/keys/routes.ts'
import { assertDeclared } from '../declared.ts'
import { startGate } from '../helpers.ts'

interface Operation {
  operationId: string
  summary: string
  parameters: { name?: string; in?: string }[]
  requestBody?: { content: Record<string, { example?: unknown }> }
  responses: Record<string, { $ref?: string; content?: Record<string, { example?: unknown }> }>
}
interface Document {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, { enum?: string[] }>
    parameters: Record<string, { name: string; schema: { pattern: string } }>
  }
}

// The committed one, which test/docs.test.ts holds to the code.
const document: Document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'))
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))

test('the service answers the committed document, without a key, to its own names only', async (t) => {
  const gate = await startGate(t)
  const answer = await fetch(`${gate.server.url}/openapi.json`)
  assert.equal(answer.status, 200)
  assert.deepEqual(await answer.json(), document)
  assert.match(answer.headers.get('x-request-id') ?? '', /^req_/)
})

test('each route is one operation, and there are no others', () => {
  assert.equal(document.openapi, '3.1.0')
  assert.deepEqual(operations.map(({ operationId }) => operationId).sort(), Object.keys(ROUTES).sort())
})

for (const id of Object.keys(ROUTES) as RouteId[]) {
  const rule: RouteRule = ROUTES[id]
  const template = rule.path.replace(/:(\w+)/g, '{$1}')
  const operation = document.paths[template]?.[rule.method.toLowerCase()]
  describe(`${rule.method} ${template}`, () => {
    test('has an example of its answer, and of its body if it takes one', () => {
      assert.ok(operation)
      const examples = [operation.responses[200] ?? operation.responses[202], operation.requestBody].filter(
        (part) => part !== undefined,
      )
      for (const { content = {} } of examples)
        for (const { example } of Object.values(content)) assert.notEqual(example, undefined)
    })
    test('declares each part of its path', () => {
      const wanted = [...rule.path.matchAll(/:(\w+)/g)].map(([, name]) => name)
      const declared = operation?.parameters.filter((parameter) => parameter.in === 'path') ?? []
      assert.deepEqual(
        declared.map(({ name }) => name),
        wanted,
      )
    })
  })
}

for (const [name, taken, refused] of [
  [
    'IdempotencyKey',
    ['a', '"a"', 'x'.repeat(255), `"${'x'.repeat(255)}"`],
    ['"a', 'a"', '""', 'a"b', 'a b', 'x'.repeat(256)],
  ],
  ['LastEventId', ['0-0'], ['x', '1-', '01-0', '0-0-0-0', `${10 ** 16}-0`]],
] as const) {
  test(`the header ${name} is declared as it is taken`, async (t) => {
    const gate = await startGate(t)
    const key = await gate.key()
    const parameter = document.components.parameters[name]
    assert.ok(parameter)
    const pattern = new RegExp(parameter.schema.pattern)
    for (const value of [...taken, ...refused]) {
      const headers: Record<string, string> = {
        'x-api-key': key.secret,
        'x-tenant-id': key.tenant,
        [parameter.name]: value,
      }
      const stream = new AbortController()
      const sending =
        name === 'LastEventId'
          ? fetch(`${gate.server.url}/events`, { headers, signal: stream.signal })
          : gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' }, headers)
      const { status } = await sending
      stream.abort()
      const isTaken = (taken as readonly string[]).includes(value)
      assert.deepEqual([pattern.test(value), status], [isTaken, isTaken ? 200 : 400], value)
    }
  })
}

test('shapes are named once and referred to, so that generated clients have types with names', () => {
  for (const name of ['Decision', 'Approval', 'AuditEntry', 'TrustBundle', 'KillSwitchStatus', 'Key', 'CheckRequest'])
    assert.ok(name in document.components.schemas, name)
  // One type in the code is one type in a client: a role that was read is a role that can be given.
  for (const name of ['Role', 'Environment', 'KillSwitchLevel']) {
    const { enum: values } = document.components.schemas[name] ?? {}
    assert.ok(values, name)
    const text = JSON.stringify(document)
    assert.equal(text.split(JSON.stringify(values)).length, 2, name)
  }
})

const OF_CHECK = { method: 'POST', path: '/gate/check', contentType: 'application/json' }
const REFUSED = { success: false, message: 'No.', requestId: 'req_1' }
const undeclared: [name: string, answer: Partial<Parameters<typeof assertDeclared>[0]>, fault: RegExp][] = [
  ['a status', { status: 418, body: {} }, /status that is not declared/],
  ['a media type', { status: 200, contentType: 'text/html', body: {} }, /text\/html, which is not declared/],
  [
    'a missing member',
    { status: 200, body: { success: true, requestId: 'req_1' } },
    /must have required property 'data'/,
  ],
  [
    'a further member',
    { status: 400, body: { ...REFUSED, error: 'invalid_request', extra: 1 } },
    /additional properties/,
  ],
  ['an error code', { status: 409, body: { ...REFUSED, error: 'approval_expired' } }, /code that is not declared/],
  ['a path', { path: '/gate/chek', status: 200, body: {} }, /is not declared/],
]

for (const [name, answer, fault] of undeclared) {
  test(`the check that tests hold answers to refuses ${name} that is not declared`, () => {
    assert.throws(() => assertDeclared({ ...OF_CHECK, status: 200, body: {}, ...answer }), fault)
  })
}
