import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as Type from '#typebox'
import type { ErrorDetail } from '../../src/base/errors.ts'
import { parseJson } from '../../src/base/json.ts'
import { errorDetail, parserOf, schemaCompiler } from '../../src/base/schema.ts'
import { processorMs } from '../processor.ts'

const parse = parserOf(
  Type.Object(
    {
      action: Type.String({ pattern: '^[a-z.]+$' }),
      level: Type.Optional(Type.Enum(['L1', 'L2'])),
      at: Type.Optional(Type.String({ format: 'date-time' })),
      nested: Type.Optional(Type.Object({ n: Type.Integer({ minimum: 1 }) }, { additionalProperties: false })),
    },
    { additionalProperties: false },
  ),
)

function read(text: string): unknown {
  return parse(parseJson(text, { maxDepth: 32 }))
}

test('parserOf returns the very value', () => {
  const value = parseJson('{"action":"a.b","nested":{"n":1}}', { maxDepth: 32 })
  assert.equal(parse(value), value)
})

const faults: { name: string; text: string; detail: ErrorDetail }[] = [
  { name: 'a missing member', text: '{}', detail: { path: '/action', message: 'is required' } },
  {
    name: 'an unknown member',
    text: '{"action":"a","acton":1}',
    detail: { path: '/acton', message: 'is not a known field' },
  },
  {
    name: 'an unknown member in depth',
    text: '{"action":"a","nested":{"n":1,"m":1}}',
    detail: { path: '/nested/m', message: 'is not a known field' },
  },
  {
    name: 'an unknown member with / and ~',
    text: '{"action":"a","a/b~c":1}',
    detail: { path: '/a~1b~0c', message: 'is not a known field' },
  },
  {
    name: 'constructor',
    text: '{"action":"a","constructor":1}',
    detail: { path: '/constructor', message: 'is not a known field' },
  },
  {
    name: 'a value outside the enum',
    text: '{"action":"a","level":"L9"}',
    detail: { path: '/level', message: 'must be one of L1, L2' },
  },
  { name: 'a wrong type', text: '{"action":1}', detail: { path: '/action', message: 'must be string' } },
  { name: 'no object', text: '[]', detail: { path: '', message: 'must be object' } },
  {
    name: 'a number too small',
    text: '{"action":"a","nested":{"n":0}}',
    detail: { path: '/nested/n', message: 'must be >= 1' },
  },
  {
    name: 'a text that does not match',
    text: '{"action":"A"}',
    detail: { path: '/action', message: 'must match pattern "^[a-z.]+$"' },
  },
  {
    name: 'a date that is none',
    text: '{"action":"a","at":"2026-02-30T00:00:00Z"}',
    detail: { path: '/at', message: 'must match format "date-time"' },
  },
]

for (const { name, text, detail } of faults) {
  test(`parserOf refuses ${name}, saying where`, () => {
    assert.throws(() => read(text), { name: 'GateError', code: 'invalid_request', details: [detail] })
  })
}

test('a request of many faults is reported once', () => {
  assert.throws(
    () => read('{"a":1,"b":1,"c":1}'),
    (error: { details: unknown[] }) => error.details.length === 1,
  )
})

test('allErrors reports every fault', () => {
  const validate = schemaCompiler({ allErrors: true }).compile({ type: 'object', required: ['a', 'b'] })
  assert.equal(validate({}), false)
  assert.deepEqual(
    (validate.errors ?? []).map((error) => errorDetail(error).path),
    ['/a', '/b'],
  )
})

const refusedSchemas: { name: string; schema: Record<string, unknown> }[] = [
  { name: 'an unknown keyword', schema: { typ: 'string' } },
  { name: 'an unknown format', schema: { type: 'string', format: 'colour' } },
  { name: 'the format url, which takes quadratic time', schema: { type: 'string', format: 'url' } },
  { name: 'an unknown type', schema: { type: 'text' } },
  { name: 'a pattern that RE2 cannot run in linear time', schema: { type: 'string', pattern: '(a)\\1' } },
  { name: 'an enum that is no list', schema: { enum: 'a' } },
  { name: 'uniqueItems that is no boolean', schema: { type: 'array', uniqueItems: 1 } },
]

for (const { name, schema } of refusedSchemas) {
  test(`schemaCompiler refuses ${name}`, () => {
    assert.throws(() => schemaCompiler({ allErrors: true }).compile(schema))
  })
}

test('each pattern is its own', () => {
  const properties = { a: { type: 'string', pattern: '^a$' }, b: { type: 'string', pattern: '^b$' } }
  const validate = schemaCompiler({ allErrors: false }).compile({ type: 'object', properties })
  assert.equal(validate({ a: 'a', b: 'b' }), true)
  assert.equal(validate({ a: 'b' }), false)
  assert.equal(validate({ b: 'a' }), false)
})

test('a pattern without anchors matches anywhere', () => {
  const validate = schemaCompiler({ allErrors: false }).compile({ type: 'string', pattern: 'b' })
  assert.deepEqual([validate('abc'), validate('ac')], [true, false])
})

test('patterns run in linear time', () => {
  const validate = schemaCompiler({ allErrors: false }).compile({ type: 'string', pattern: '^(a+)+$' })
  const started = processorMs()
  assert.equal(validate(`${'a'.repeat(20_000)}!`), false)
  assert.equal(validate('aaa'), true)
  assert.ok(processorMs() - started < 2000)
})

const formats: { format: string; good: string; bad: string }[] = [
  { format: 'date-time', good: '2026-02-28T12:00:00Z', bad: '2026-02-28 12:00' },
  { format: 'date', good: '2026-02-28', bad: '2026-02-29' },
  { format: 'time', good: '12:00:00Z', bad: '12:00' },
  { format: 'duration', good: 'P1DT2H', bad: '1d' },
  { format: 'email', good: 'ann@example.org', bad: 'ann@' },
  { format: 'hostname', good: 'example.org', bad: '-example' },
  { format: 'ipv4', good: '192.0.2.1', bad: '192.0.2.256' },
  { format: 'ipv6', good: '2001:db8::1', bad: '2001:db8:::1' },
  { format: 'uuid', good: 'c7b1d9d2-8d0c-4a53-9f0e-6a6b1a0d2f11', bad: 'c7b1d9d2' },
  { format: 'regex', good: '^a+$', bad: '(' },
  { format: 'uri', good: 'https://example.org/a?b#c', bad: 'example.org' },
  { format: 'uri-reference', good: '/a?b', bad: '\\\\a' },
  { format: 'uri-template', good: '/a/{b}', bad: '/a/{b' },
  { format: 'json-pointer', good: '/a~1b', bad: 'a' },
  { format: 'relative-json-pointer', good: '1/a', bad: '/a' },
]

for (const { format, good, bad } of formats) {
  test(`format ${format} is checked, in a time that grows with the length`, () => {
    const validate = schemaCompiler({ allErrors: false }).compile({ type: 'string', format })
    assert.deepEqual([validate(good), validate(bad)], [true, false])
    const started = processorMs()
    for (const piece of [':', '0', 'a', '.', '/', '::', 'a.', '%41', '-']) {
      for (const start of ['', 'http://', 'http://[', 'a@']) validate(`${start}${piece.repeat(30_000)}\0`)
    }
    assert.ok(processorMs() - started < 1000)
  })
}

// Parsed objects have no prototype, and `constructor` and `valueOf` are plain members: comparing
// values must neither throw nor be deceived by that.
const equality: { name: string; schema: Record<string, unknown>; text: string; valid: boolean }[] = [
  { name: 'const of an object', schema: { const: { a: [1, { b: null }] } }, text: '{"a":[1,{"b":null}]}', valid: true },
  { name: 'const of another object', schema: { const: { a: 1 } }, text: '{"a":2}', valid: false },
  { name: 'const against more members', schema: { const: { a: 1 } }, text: '{"a":1,"b":1}', valid: false },
  { name: 'const against fewer members', schema: { const: { a: 1, b: 1 } }, text: '{"a":1}', valid: false },
  { name: 'const against other members', schema: { const: { a: 1 } }, text: '{"b":1}', valid: false },
  { name: 'const of a scalar', schema: { const: 'x' }, text: '"x"', valid: true },
  { name: 'const of null against an object', schema: { const: null }, text: '{}', valid: false },
  { name: 'const of a list against an object', schema: { const: [] }, text: '{}', valid: false },
  { name: 'number and text', schema: { const: 1 }, text: '"1"', valid: false },
  { name: 'enum of objects', schema: { enum: [1, { a: 1 }] }, text: '{"a":1}', valid: true },
  { name: 'enum, none', schema: { enum: [1, { a: 1 }] }, text: '{"a":true}', valid: false },
  { name: 'valueOf sent as member', schema: { enum: [{ valueOf: 1 }] }, text: '{"valueOf":1}', valid: true },
  { name: 'equal objects in another order', schema: unique(), text: '[{"a":1,"b":2},{"b":2,"a":1}]', valid: false },
  { name: 'distinct objects', schema: unique(), text: '[{"a":1},{"a":2},[1],["1"]]', valid: true },
  { name: 'members that look like methods', schema: unique(), text: '[{"valueOf":1},{"valueOf":1}]', valid: false },
  { name: 'number and text in a list', schema: unique(), text: '[1,"1",true,"true",null]', valid: true },
  { name: 'the same number twice', schema: unique(), text: '[1,1.0]', valid: false },
  { name: 'uniqueItems false', schema: { type: 'array', uniqueItems: false }, text: '[1,1]', valid: true },
]

function unique(): Record<string, unknown> {
  return { type: 'array', uniqueItems: true }
}

for (const { name, schema, text, valid } of equality) {
  test(`schemas compare values: ${name}`, () => {
    const validate = schemaCompiler({ allErrors: false }).compile(schema)
    assert.equal(validate(parseJson(text, { maxDepth: 32 })), valid)
  })
}

test('uniqueItems costs no more than the list is long', () => {
  const validate = schemaCompiler({ allErrors: false }).compile(unique())
  const started = processorMs()
  assert.equal(validate(Array.from({ length: 20_000 }, (_, n) => ({ n, text: 'x' }))), true)
  assert.ok(processorMs() - started < 2000)
})

test('errorDetail names allowed values that are no texts', () => {
  const validate = schemaCompiler({ allErrors: false }).compile({
    enum: [parseJson('{"a":null}', { maxDepth: 2 }), 'b', null],
  })
  validate(1)
  assert.deepEqual(validate.errors?.map(errorDetail), [{ path: '', message: 'must be one of {"a":null}, b, null' }])
})
