import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalJson } from '../../src/base/canonical.ts'
import { parseJson } from '../../src/base/json.ts'
import { vectorLines, vectorText } from './vectors.ts'

for (const name of ['arrays', 'french', 'structures', 'unicode', 'values', 'weird']) {
  test(`RFC 8785 vector: ${name}`, () => {
    const text = canonicalJson(JSON.parse(vectorText(`jcs/input/${name}.json`)))
    assert.equal(text, vectorText(`jcs/output/${name}.json`))
    assert.equal(Buffer.from(text).toString('hex'), vectorText(`jcs/outhex/${name}.txt`).replace(/\s/g, ''))
  })
}

test('RFC 8785 numbers: the first 1,000 of the published sequence', () => {
  const lines = vectorLines('jcs/es6numbers_1000.txt')
  assert.equal(lines.length, 1000)
  for (const line of lines) {
    const [bits = '', expected] = line.split(',')
    const value = Buffer.from(bits.padStart(16, '0'), 'hex').readDoubleBE()
    assert.equal(canonicalJson(value), expected, `bits ${bits}`)
  }
})

// Built here, since a literal `__proto__` key would set the prototype.
const protoMember = JSON.parse('{"__proto__":1}') as unknown

const written: { name: string; value: unknown; text: string }[] = [
  { name: 'keys by UTF-16 unit, not by code point', value: { '\ufb33': 1, '😂': 2 }, text: '{"😂":2,"\ufb33":1}' },
  { name: 'integer-like keys as text', value: { 10: 1, 9: 2 }, text: '{"10":1,"9":2}' },
  { name: 'minus zero as zero', value: -0, text: '0' },
  { name: 'control characters', value: '\u0000\u001f\u007f\u2028', text: '"\\u0000\\u001f\u007f\u2028"' },
  {
    name: 'an object without prototype',
    value: Object.assign(Object.create(null), { b: 1, a: 2 }),
    text: '{"a":2,"b":1}',
  },
  { name: 'a member called toJSON', value: { toJSON: 1 }, text: '{"toJSON":1}' },
  { name: 'a member called __proto__', value: protoMember, text: '{"__proto__":1}' },
  { name: 'the empty key', value: { '': [] }, text: '{"":[]}' },
]

for (const { name, value, text } of written) {
  test(`canonicalJson writes ${name}`, () => assert.equal(canonicalJson(value), text))
}

function nested(depth: number): unknown {
  return depth === 0 ? 1 : [nested(depth - 1)]
}

const refused: { name: string; value: unknown }[] = [
  { name: 'undefined', value: undefined },
  { name: 'an undefined member', value: { a: undefined } },
  { name: 'an undefined item', value: [undefined] },
  { name: 'a hole', value: new Array(2) },
  { name: 'NaN', value: [Number.NaN] },
  { name: 'Infinity', value: Number.NEGATIVE_INFINITY },
  { name: 'a bigint', value: 1n },
  { name: 'a function', value: { a: () => 1 } },
  { name: 'a symbol', value: Symbol('a') },
  { name: 'a date', value: new Date(0) },
  { name: 'a map', value: new Map() },
  { name: 'bytes', value: Buffer.from('a') },
  { name: 'a boxed string', value: Object('a') },
  { name: 'a lone surrogate', value: '\ud800' },
  { name: 'a lone surrogate as key', value: { '\udc00': 1 } },
  { name: 'nesting without end', value: nested(101) },
]

for (const { name, value } of refused) {
  test(`canonicalJson refuses ${name}`, () => assert.throws(() => canonicalJson(value), TypeError))
}

test('canonicalJson takes a hundred levels', () => {
  assert.equal(canonicalJson(nested(100)), `${'['.repeat(100)}1${']'.repeat(100)}`)
})

/** Values that strict parsing yields: no integer beyond 2^53, no lone surrogate, no `__proto__`. */
const text = fc.string({ unit: 'binary' })
const key = text.filter((name) => name !== '__proto__')
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Number.isInteger(n)),
)
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, false),
    number,
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
}))

test('property: parse after write gives the value, write after parse the text', () => {
  fc.assert(
    fc.property(json, (value) => {
      const written = canonicalJson(value)
      const parsed = parseJson(written, { maxDepth: 32 })
      assert.equal(canonicalJson(parsed), written)
      assert.deepEqual(JSON.parse(JSON.stringify(parsed)), JSON.parse(JSON.stringify(value)))
    }),
    { numRuns: 500 },
  )
})

test('property: the order of keys does not matter', () => {
  const members = fc.uniqueArray(fc.tuple(key, json), { selector: ([name]) => name, maxLength: 6 })
  const shuffled = members.chain((entries) =>
    fc.tuple(fc.constant(entries), fc.shuffledSubarray(entries, { minLength: entries.length })),
  )
  fc.assert(
    fc.property(shuffled, ([entries, others]) => {
      const [a, b] = [Object.fromEntries(entries), Object.fromEntries(others)]
      assert.equal(canonicalJson(a), canonicalJson(b))
    }),
    { numRuns: 500 },
  )
})
