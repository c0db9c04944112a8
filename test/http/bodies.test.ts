import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { ErrorCode } from '../../src/base/errors.ts'
import { createLogger } from '../../src/service/log.ts'
import { startGate } from '../helpers.ts'
import { assertDone, assertRefused, entries, raw, requestText } from './support.ts'

const logged: string[] = []
const log = createLogger('debug', { write: (line) => void logged.push(line) })
const gate = await startGate({ after }, { log })
const owner = await gate.key()

const MIB = 1024 * 1024
const GOOD = '{"tenantId":"acme","action":"email.send","context":{"secretive":"hunter2-in-the-body"}}'
const withContext = (json: string): string => `{"tenantId":"acme","action":"email.send","context":${json}}`
/** Nested so that the deepest value is at this depth; the body itself and `context` are two levels. */
const nested = (depth: number): string => withContext(`${'{"a":'.repeat(depth - 1)}1${'}'.repeat(depth - 1)}`)
const sized = (bytes: number): string => {
  const frame = withContext('{"a":""}').length
  return withContext(`{"a":"${'x'.repeat(bytes - frame)}"}`)
}
const latin = (text: string): Buffer => Buffer.from(text, 'latin1')

const JSON_BODIES: [name: string, body: string | Buffer][] = [
  ['an empty body', ' '],
  ['half an object', GOOD.slice(0, -1)],
  ['a comma too many', withContext('{"a":1,}')],
  ['single quotes', GOOD.replaceAll('"', "'")],
  ['a comment', `/* x */${GOOD}`],
  ['bytes after the value', `${GOOD} {}`],
  ['a NUL after the value', `${GOOD}\0`],
  ['a duplicate key', '{"tenantId":"acme","action":"email.send","action":"payment.transfer"}'],
  ['a duplicate key by escape', '{"tenantId":"acme","action":"email.send","\\u0061ction":"x"}'],
  ['a duplicate key in depth', withContext('{"a":{"b":1,"b":1}}')],
  ['__proto__', withContext('{"__proto__":{"isAdmin":true}}')],
  ['__proto__ at the top', '{"tenantId":"acme","action":"email.send","__proto__":{}}'],
  ['a lone surrogate', withContext('{"a":"\\ud800"}')],
  ['a lone surrogate as key', withContext('{"\\udfff":1}')],
  ['2^53', withContext('{"amount":9007199254740992}')],
  ['−2^53', withContext('{"amount":-9007199254740992}')],
  ['1e400', withContext('{"amount":1e400}')],
  ['an exponent to a large integer', withContext('{"amount":1e16}')],
  ['NaN', withContext('{"amount":NaN}')],
  ['Infinity', withContext('{"amount":-Infinity}')],
  ['a leading zero', withContext('{"amount":007}')],
  ['hexadecimal', withContext('{"amount":0x10}')],
  ['depth 33', nested(33)],
  ['depth 100,000', '['.repeat(100_000)],
  ['a control character', withContext('{"a":"\u0001"}')],
  ['a line feed in a string', withContext('{"a":"\n"}')],
  ['a BOM', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(GOOD)])],
  ['a byte that is not UTF-8', latin(withContext('{"a":"\xe9"}'))],
  ['an overlong slash', latin(withContext('{"a":"\xc0\xaf"}'))],
  ['a surrogate in UTF-8', latin(withContext('{"a":"\xed\xa0\x80"}'))],
  ['UTF-16', Buffer.from(GOOD, 'utf16le')],
  ['gzip without saying so', gzipSync(GOOD)],
]

const send = (body: string | Buffer, headers: Record<string, string | null> = {}) => {
  const bytes = Buffer.from(body)
  const all = { 'Content-Type': 'application/json', 'Content-Length': String(bytes.byteLength), ...headers }
  return raw(gate, Buffer.concat([Buffer.from(requestText(owner, 'POST /gate/check', all)), bytes]))
}

for (const [name, body] of JSON_BODIES) {
  test(`invalid_json: ${name}`, async () => {
    const before = await entries(gate)
    assertRefused(await send(body), 'invalid_json')
    assert.equal(await entries(gate), before)
  })
}

const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
const CHUNKED = { 'Content-Length': null, 'Transfer-Encoding': 'chunked' }

const MESSAGES: [
  name: string,
  code: ErrorCode | undefined,
  body: string | Buffer,
  headers?: Record<string, string | null>,
][] = [
  ['depth 32', undefined, nested(32)],
  ['exactly 1 MiB', undefined, sized(MIB)],
  ['exactly 1 MiB in chunks', undefined, chunked(sized(MIB)), CHUNKED],
  ['one byte more', 'payload_too_large', sized(MIB + 1)],
  ['one byte more in chunks', 'payload_too_large', chunked(sized(MIB + 1)), CHUNKED],
  ['a length that is announced only', 'payload_too_large', '', { 'Content-Length': '99999999999' }],
  ['no type', 'unsupported_media_type', GOOD, { 'Content-Type': null }],
  ['an empty type', 'unsupported_media_type', GOOD, { 'Content-Type': '' }],
  ['text', 'unsupported_media_type', GOOD, { 'Content-Type': 'text/plain' }],
  ['a form', 'unsupported_media_type', GOOD, { 'Content-Type': 'application/x-www-form-urlencoded' }],
  ['a form of parts', 'unsupported_media_type', GOOD, { 'Content-Type': 'multipart/form-data; boundary=x' }],
  ['a type that only starts alike', 'unsupported_media_type', GOOD, { 'Content-Type': 'application/jsonp' }],
  ['a type of the family', 'unsupported_media_type', GOOD, { 'Content-Type': 'application/problem+json' }],
  ['two types', 'unsupported_media_type', GOOD, { 'Content-Type': 'application/json, text/plain' }],
  ['another charset', 'unsupported_media_type', GOOD, { 'Content-Type': 'application/json; charset=utf-16' }],
  ['UTF-8 by name', undefined, GOOD, { 'Content-Type': 'Application/JSON; Charset="UTF-8"' }],
  ['gzip', 'unsupported_media_type', gzipSync(GOOD), { 'Content-Encoding': 'gzip' }],
  ['a compression nobody knows', 'unsupported_media_type', GOOD, { 'Content-Encoding': 'x' }],
  [
    'constructor and toJSON as data',
    undefined,
    withContext('{"constructor":{"prototype":1},"toJSON":1,"toString":2,"valueOf":3}'),
  ],
  ['negative zero', undefined, withContext('{"amount":-0}')],
  ['a pair of surrogates', undefined, withContext('{"a":"\\ud83d\\ude02"}')],
]

for (const [name, code, body, headers] of MESSAGES) {
  test(`${code ?? 'taken'}: ${name}`, async () => {
    const before = await entries(gate)
    const answer = await send(body, headers)
    if (code === undefined) assertDone(answer)
    else assertRefused(answer, code)
    assert.equal(await entries(gate), before + (code === undefined ? 1 : 0))
  })
}

test('a bundle may have 8 MiB, and not a byte more', async () => {
  const frame = '{"bundle":{"a":""}}'.length
  const bundle = (bytes: number): string => `{"bundle":{"a":"${'x'.repeat(bytes - frame)}"}}`
  assertDone(await gate.call(owner, 'POST', '/evidence/verify', bundle(8 * MIB)))
  // The length alone is refused: a client that still writes may find the connection closed before it reads the answer.
  const announced = { 'Content-Type': 'application/json', 'Content-Length': String(8 * MIB + 1) }
  assertRefused(await raw(gate, requestText(owner, 'POST /evidence/verify', announced)), 'payload_too_large')
})

test('what was sent as data is kept as it was', async () => {
  const context = { constructor: { prototype: 1 }, toJSON: 1, 'a b': 'é😂', n: 0.1, deep: { list: [null, true, -1.5] } }
  const answer = await gate.call(owner, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send', context })
  const bundle = await gate.call(owner, 'GET', `/evidence/bundle/${answer.body.data.decisionId}`)
  assert.deepEqual(bundle.body.data.context.originalRequest.context, context)
})

test('a body on GET is not read, whatever its type', async () => {
  const text = requestText(owner, 'GET /killswitch/status', { 'Content-Type': 'text/plain', 'Content-Length': '3' })
  assertDone(await raw(gate, `${text}{"a`))
})

test('nothing that was sent is in the log', () => {
  assert.doesNotMatch(logged.join(''), /hunter2|sk_live_|sk_test_|x-api-key/)
})
