import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { ERRORS, type ErrorCode, GateError } from '../../src/base/errors.ts'
import { errorCounts } from '../../src/http/error-counts.ts'
import { writeError } from '../../src/http/errors.ts'
import { createLogger } from '../../src/service/log.ts'
import { plainFetch } from '../declared.ts'
import type { Answer } from '../helpers.ts'
import { assertRefused } from './support.ts'

const logged: string[] = []
let errors = errorCounts()
/** A client asks twice where the answer is 421. */
let asked = 0
/** With a log of its own, which leaves out nothing. */
const services = () => ({ errors, log: createLogger('debug', { write: (line) => void logged.push(line) }) })
let respond: (response: ServerResponse) => void = (response) => response.end()
const server = createServer((_, response) => {
  asked += 1
  respond(response)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => {
  server.closeAllConnections()
  server.close()
})

const SECRET = 'sk_live_and_the_path_/srv/secret.ts:1'
const cause = new Error(SECRET)

async function thrown(error: unknown): Promise<Answer> {
  logged.length = 0
  errors = errorCounts()
  asked = 0
  respond = (response) => writeError(response, error, 'req_1', services())
  const response = await plainFetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const THROWN: [name: string, error: unknown, code: ErrorCode][] = [
  ['an error of ours', cause, 'internal'],
  ['a TypeError', new TypeError(SECRET), 'internal'],
  ['a text', SECRET, 'internal'],
  ['nothing', undefined, 'internal'],
  ['what looks like one of ours', { code: 'forbidden', message: SECRET }, 'internal'],
  ['a path that is no URI', new URIError(SECRET), 'invalid_request'],
  ['a store that cannot be written', new GateError('audit_unavailable', 'Not now.', { cause }), 'audit_unavailable'],
]

for (const [name, error, code] of THROWN) {
  test(`${name} is answered as ${code}, without its words`, async () => {
    const answer = await thrown(error)
    assertRefused(answer, code)
    assert.doesNotMatch(JSON.stringify(answer.body), /sk_live|secret/)
    assert.equal(logged.length, ERRORS[code].status >= 500 ? 1 : 0)
  })
}

test('what went wrong is in the log, under the id that the caller has', async () => {
  await thrown(cause)
  const line = JSON.parse(logged[0] ?? '')
  assert.deepEqual([line.requestId, line.error, line.level], ['req_1', 'internal', 'error'])
  assert.ok(line.cause.includes('errors.test.ts'), 'the stack')
  await thrown(new GateError('audit_unavailable', 'Not now.', { cause: new Error('disk full') }))
  assert.ok(logged[0]?.includes('disk full'))
})

for (const code of Object.keys(ERRORS) as ErrorCode[]) {
  test(`${code} is ${ERRORS[code].status} with its words, details and headers, and is counted`, async () => {
    const details = [{ path: '/a', message: 'is wrong' }]
    const answer = await thrown(new GateError(code, 'Because.', { details, headers: { 'Retry-After': '7' } }))
    assertRefused(answer, code)
    assert.equal(answer.body.message, 'Because.')
    assert.deepEqual(answer.body.details, details)
    assert.deepEqual(
      [...errors.all()].filter(([, count]) => count > 0),
      [[code, asked]],
    )
    assert.equal(answer.headers.get('retry-after'), '7')
  })
}

test('an answer that has begun is not begun again', async () => {
  respond = (response) => {
    response.end('begun')
    writeError(response, cause, 'req_1', services())
  }
  const response = await plainFetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  assert.equal(await response.text(), 'begun')
})
