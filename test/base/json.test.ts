import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalJson } from '../../src/base/canonical.ts'
import { decodeUtf8, isJsonObject, type Json, parseJson } from '../../src/base/json.ts'
import { vectorLines, vectorText } from './vectors.ts'

const LIMITS = { maxDepth: 32 }
const refused = { name: 'GateError', code: 'invalid_json' }

const LOSSY_INTEGER = 'an integer outside ±(2^53−1), which parsers round differently'
const DUPLICATE_KEY = 'a duplicate key, of which parsers take the first or the last'

/** Valid by RFC 8259, refused on purpose. */
const STRICTER: Record<string, string> = {
  'y_number.json': LOSSY_INTEGER,
  'y_number_real_capital_e.json': LOSSY_INTEGER,
  'y_number_real_exponent.json': LOSSY_INTEGER,
  'y_number_real_fraction_exponent.json': LOSSY_INTEGER,
  'y_object_extreme_numbers.json': LOSSY_INTEGER,
  'y_object_duplicated_key.json': DUPLICATE_KEY,
  'y_object_duplicated_key_and_value.json': DUPLICATE_KEY,
}

/** Documents on which RFC 8259 leaves the parser free, and that we read. */
const EITHER_READ = ['i_number_double_huge_neg_exp.json', 'i_number_real_underflow.json']

interface Vector {
  name: string
  expect: 'accept' | 'reject' | 'either' | 'transform'
  b64: string
}

const suite = vectorLines('json/jsontestsuite.jsonl').map((line) => JSON.parse(line) as Vector)

test('JSONTestSuite is there as a whole', () => {
  assert.equal(suite.length, 340)
  const names = new Set(suite.map(({ name }) => name))
  for (const name of [...Object.keys(STRICTER), ...EITHER_READ]) assert.ok(names.has(name), name)
})

for (const { name, expect, b64 } of suite.filter((vector) => vector.expect !== 'transform')) {
  const bytes = Buffer.from(b64, 'base64')
  const reads = (expect === 'accept' && !(name in STRICTER)) || EITHER_READ.includes(name)
  test(`JSONTestSuite: ${name} is ${reads ? 'read as JSON.parse reads it' : 'refused'}`, () => {
    const asEvidence = { ...LIMITS, rounds: true }
    if (!reads) assert.throws(() => parseJson(bytes, asEvidence), refused)
    else assert.equal(canonicalJson(parseJson(bytes, asEvidence)), canonicalJson(JSON.parse(bytes.toString())))
  })
}

const read: { name: string; text: string; value: unknown }[] = [
  { name: 'largest safe integer', text: '9007199254740991', value: Number.MAX_SAFE_INTEGER },
  { name: 'smallest safe integer', text: '-9007199254740991', value: Number.MIN_SAFE_INTEGER },
  { name: 'an integer written with an exponent', text: '1e3', value: 1000 },
  { name: 'a fraction as JavaScript writes its double', text: '0.30000000000000004', value: 0.30000000000000004 },
  {
    name: 'zeros that mean nothing',
    text: '[0.10, 100.000, 1.50e-7, 10e-2, 0e9, 0.0]',
    value: [0.1, 100, 1.5e-7, 0.1, 0, 0],
  },
  {
    name: 'the smallest and the largest fraction',
    text: '[5e-324, 4503599627370495.5]',
    value: [5e-324, 4503599627370495.5],
  },
  { name: 'surrogate pair by escapes', text: '"\\ud83d\\ude02"', value: '😂' },
  { name: 'surrogate pair, half by escape', text: '"\\u00e9\\u0000"', value: 'é\0' },
  { name: 'all short escapes', text: '"\\"\\\\\\/\\b\\f\\n\\r\\t"', value: '"\\/\b\f\n\r\t' },
  { name: 'white space everywhere', text: ' \t\r\n[ 1 , { } ] \n', value: [1, {}] },
  { name: 'composed and decomposed keys are two keys', text: '{"é":1,"e\u0301":2}', value: { é: 1, 'e\u0301': 2 } },
]

for (const { name, text, value } of read) {
  test(`parseJson reads ${name}`, () => {
    assert.equal(canonicalJson(parseJson(text, LIMITS)), canonicalJson(value))
  })
}

const bad: { name: string; input: string | Uint8Array; at?: number }[] = [
  { name: 'an empty text', input: '', at: 0 },
  { name: 'a second value', input: '1 2', at: 2 },
  { name: 'a BOM', input: Uint8Array.of(0xef, 0xbb, 0xbf, 0x31), at: 0 },
  { name: 'overlong UTF-8', input: Uint8Array.of(0x22, 0xc0, 0xaf, 0x22) },
  { name: 'a duplicate key', input: '{"a":1,"a":1}', at: 7 },
  { name: 'a duplicate key hidden by an escape', input: '{"a":1,"\\u0061":1}', at: 7 },
  { name: 'a duplicate of a key that objects inherit', input: '{"toString":1,"toString":2}', at: 14 },
  { name: '__proto__', input: '{"__proto__":{}}', at: 1 },
  { name: '__proto__ by escapes', input: '{"\\u005f_proto__":{}}', at: 1 },
  { name: '__proto__ in depth', input: '[{"a":{"__proto__":1}}]', at: 7 },
  { name: 'a lone surrogate', input: '"\\ud800"', at: 1 },
  { name: 'a lone surrogate as key', input: '{"\\udc00":1}', at: 2 },
  { name: 'a lone surrogate in a string', input: '"\ud800"', at: 1 },
  { name: '2^53', input: '9007199254740992', at: 0 },
  { name: '-2^53', input: '[-9007199254740992]', at: 1 },
  { name: '2^53 as a fraction', input: '9007199254740992.0', at: 0 },
  { name: 'a fraction with more digits than a double', input: '0.30000000000000004441', at: 0 },
  { name: 'a fraction that a double takes for whole', input: '[100.000000000000001]', at: 1 },
  { name: 'a number that a double takes for none', input: '1e-400', at: 0 },
  { name: 'a fraction in the last digit', input: '0.10000000000000001', at: 0 },
  { name: 'an exponent of many digits', input: '1e-99999999999999999999', at: 0 },
  { name: 'an overflowing number', input: '1e309', at: 0 },
  { name: 'a leading zero', input: '01', at: 1 },
  { name: 'a bare minus', input: '-', at: 0 },
  { name: 'a plus', input: '+1', at: 0 },
  { name: 'NaN', input: 'NaN', at: 0 },
  { name: 'a comment', input: '1//', at: 1 },
  { name: 'a trailing comma', input: '[1,]', at: 3 },
  { name: 'single quotes', input: "{'a':1}", at: 1 },
  { name: 'a raw tab in a string', input: '"\t"', at: 1 },
  { name: 'an unknown escape', input: '"\\x41"', at: 2 },
  { name: 'three hexadecimal digits', input: '"\\u004"', at: 2 },
  { name: 'a string without end', input: '"abc\\"', at: 6 },
  { name: 'a no-break space', input: '\u00a01', at: 0 },
]

for (const { name, input, at } of bad) {
  test(`parseJson refuses ${name}`, () => {
    const message = at === undefined ? /UTF-8/ : new RegExp(`\\(at offset ${at}\\)\\.$`)
    assert.throws(() => parseJson(input, LIMITS), { ...refused, message })
  })
}

test('texts of strings are read as JSON.parse reads them, and refused with it, however long', () => {
  const piece = fc.oneof(
    fc.nat(80).map((length) => 'x'.repeat(length)),
    fc.constantFrom('\\n', '\\\\', '\\"', '\\u20ac', 'é€😂', '\\x', '\t', '"', '\\'),
  )
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = `"${pieces.join('')}"`
      let expected: unknown
      try {
        expected = JSON.parse(text)
      } catch {
        return assert.throws(() => parseJson(text, LIMITS), refused)
      }
      assert.equal(parseJson(text, LIMITS), expected)
    }),
    { numRuns: 2000 },
  )
})

test('every double is read as JSON writes it, and as no other number', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(9), (value, digit) => {
      fc.pre(!Number.isInteger(value))
      const text = JSON.stringify(value)
      assert.equal(parseJson(text, LIMITS), value)
      const [, whole, exponent = ''] = /^(.*?)(e.*)?$/.exec(text) ?? []
      const longer = `${whole}${whole?.includes('.') ? '' : '.'}00000000000000000${digit}${exponent}`
      if (digit === 0) assert.equal(parseJson(longer, LIMITS), value)
      else assert.throws(() => parseJson(longer, LIMITS), refused)
      assert.equal(parseJson(longer, { ...LIMITS, rounds: true }), Number(longer))
    }),
  )
})

test('depth: exactly the limit is read, one more is refused, and a million do not overflow the stack', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  assert.ok(parseJson(nested(3), { maxDepth: 3 }))
  assert.equal(parseJson('1', { maxDepth: 0 }), 1)
  assert.throws(() => parseJson('{}', { maxDepth: 0 }), refused)
  assert.throws(() => parseJson(nested(4), { maxDepth: 3 }), refused)
  assert.throws(() => parseJson('{"a":'.repeat(1_000_000), LIMITS), refused)
})

test('objects have no prototype, so inherited names are plain data', () => {
  const value = parseJson('{"constructor":1,"toJSON":2,"hasOwnProperty":3}', LIMITS)
  assert.ok(isJsonObject(value))
  assert.equal(Object.getPrototypeOf(value), null)
  assert.deepEqual({ ...value }, { constructor: 1, toJSON: 2, hasOwnProperty: 3 })
  const empty = parseJson('{}', LIMITS)
  assert.ok(isJsonObject(empty) && !('toString' in empty))
})

test('isJsonObject tells objects from arrays, null and scalars', () => {
  const values: [unknown, boolean][] = [
    [{}, true],
    [Object.create(null), true],
    [[], false],
    [null, false],
    ['', false],
  ]
  for (const [value, expected] of values) assert.equal(isJsonObject(value), expected)
})

test('decodeUtf8 keeps a BOM visible and refuses what is not UTF-8', () => {
  assert.equal(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf)), '\ufeff')
  assert.throws(() => decodeUtf8(Uint8Array.of(0xff)), refused)
})

test('big list of naughty strings: each comes back as it was, as value and as key', () => {
  const strings = parseJson(vectorText('json/blns.json'), LIMITS) as string[]
  assert.equal(strings.length, 515)
  for (const text of strings) {
    assert.equal(parseJson(canonicalJson(text), LIMITS), text)
    const object = parseJson(canonicalJson({ [text]: text }), LIMITS)
    assert.ok(isJsonObject(object))
    assert.deepEqual(Object.entries(object), [[text, text]])
  }
})

test('property: what is refused by JSON.parse is refused, what both read is equal', () => {
  const alphabet = fc.constantFrom(
    '[',
    ']',
    '{',
    '}',
    '"',
    ':',
    ',',
    '\\',
    'u0041',
    '1',
    '-',
    '.',
    'e',
    ' ',
    'true',
    'a',
  )
  fc.assert(
    fc.property(fc.array(alphabet, { maxLength: 12 }), (parts) => {
      const text = parts.join('')
      let ours: Json
      try {
        ours = parseJson(text, LIMITS)
      } catch {
        return
      }
      assert.equal(canonicalJson(ours), canonicalJson(JSON.parse(text)))
    }),
    { numRuns: 3000 },
  )
})

test('the number of values is limited, lists and objects included', () => {
  assert.ok(parseJson('[1,{"a":2}]', { maxDepth: 3, maxValues: 4 }))
  assert.throws(() => parseJson('[1,{"a":2}]', { maxDepth: 3, maxValues: 3 }), refused)
})
