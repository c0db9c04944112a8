import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaCompiler } from '../../src/base/schema.ts'
import { BundleShape } from '../../src/evidence/bundle.ts'
import { EnvelopeShape, envelopeOf } from '../../src/evidence/envelope.ts'
import { HeaderShape, Signatures } from '../../src/evidence/fields.ts'
import {
  anyObject,
  anyValue,
  count,
  list,
  literal,
  object,
  orNull,
  record,
  type Shape,
  text,
  unique,
} from '../../src/evidence/shape.ts'
import { Certificate, Rotation } from '../../src/evidence/trust.ts'
import { archive } from './bundles.ts'
import { aPrivateKey, rotate } from './forge.ts'
import { mutations, type Value } from './mutations.ts'

/** Returns a function that tells whether the JSON Schema of a shape and its own check each accept a value. */
function bothOf(shape: Shape<unknown>) {
  const validate = schemaCompiler({ allErrors: false }).compile(shape.schema)
  return (value: unknown): { schema: boolean; check: boolean } => ({
    schema: validate(value),
    check: shape.fault(value, '') === undefined,
  })
}

const { approved, bundleOf } = await archive()
const bundle = await bundleOf(await approved('payment.refund', 2))
const { signatures, ...unsigned } = bundle
const envelope = envelopeOf('bundle', unsigned, signatures.service.publicKey, signatures.service.signature)
const rotation = rotate('gate.example', [aPrivateKey(), aPrivateKey()], '2026-01-01T00:00:00.000Z')

const SHAPES: [name: string, shape: Shape<unknown>, good: unknown, ways: number][] = [
  ['a bundle', BundleShape, bundle, 1000],
  ['an envelope', EnvelopeShape, envelope, 30],
  ['a header', HeaderShape, bundle.proof.entries[0], 40],
  ['signatures', Signatures, { ...signatures, auditor: {} }, 20],
  ['a certificate', Certificate, bundle.proof.certificate, 40],
  ['a rotation', Rotation, rotation, 30],
]
for (const [name, shape, good, ways] of SHAPES) {
  test(`the schema and the check of ${name} find the same good, of it and of every change`, () => {
    const judge = bothOf(shape)
    assert.deepEqual(judge(good), { schema: true, check: true })
    let refused = 0
    const changed = [...mutations(good as Value)]
    for (const { name: mutation, value } of changed) {
      const { schema, check } = judge(value)
      // No pattern tells a checkpoint from every other text.
      if (mutation.startsWith('/proof/checkpoint =')) assert.equal(schema || !check, true, mutation)
      else assert.equal(check, schema, mutation)
      if (!check) refused += 1
    }
    assert.ok(changed.length > ways && refused > 5, `${changed.length}, ${refused} of them refused`)
  })
}

const word = text({ pattern: /^[a-z]+$/, maxLength: 4 })
const pair = object({ a: word }, { optional: { b: count } })
const VALUES: [name: string, shape: Shape<unknown>, good: unknown[], bad: unknown[]][] = [
  ['text', text({ maxLength: 4 }), ['', 'abcd', '\n'], ['abcde', 1, null, ['a']]],
  ['text beyond 16 bits', text({ maxLength: 4 }), ['😀😀', '😀😀😀', '😀😀😀😀'], ['😀😀😀😀😀', 'abcd😀']],
  ['text of a pattern', word, ['a', 'abcd'], ['', 'A', 'a\n', '\na', 'abcde']],
  ['a literal', literal(1), [1], [0, '1', true, null]],
  ['a count', count, [0, -0, 1, 2 ** 53 - 1], [-1, 0.5, 2 ** 53, 1e300, '1', null]],
  ['any object', anyObject, [{}, { a: 1 }], [[], null, 'a', 1]],
  ['any value', anyValue, [null, 1, 'a', [], {}], []],
  ['or null', orNull(word), [null, 'a'], ['', 0, undefined]],
  ['a list', list(word, { min: 1, max: 2 }), [['a'], ['a', 'b']], [[], ['a', 'b', 'c'], ['A'], {}, 'ab', null]],
  ['a record', record(word, { max: 1 }), [{}, { constructor: 'a' }], [{ a: 'a', b: 'b' }, { a: 1 }, [], null]],
  ['a record of names', record(word, { max: 2, name: /^[a-z]+$/ }), [{ a: 'a' }], [{ A: 'a' }, { '': 'a' }]],
  ['a list without repetition', unique(list(word, { max: 3 })), [[], ['a', 'b']], [['a', 'a'], ['b', 'a', 'b'], 'a']],
  ['members', pair, [{ a: 'a' }, { a: 'a', b: 0 }], [{}, { b: 0 }, { a: 'a', c: 1 }, { a: 'a', b: '0' }, [], null]],
  [
    'members that every object has',
    pair,
    [],
    [
      { a: 'a', constructor: 'a' },
      { a: 'a', toString: 1 },
    ],
  ],
  ['a required member that every object has', object({ constructor: word }), [{ constructor: 'a' }], [{}]],
]
for (const [name, shape, good, bad] of VALUES) {
  test(`the schema and the check are as one: ${name}`, () => {
    const judge = bothOf(shape)
    for (const [values, isGood] of [
      [good, true],
      [bad, false],
    ] as const)
      for (const value of values)
        assert.deepEqual(judge(value), { schema: isGood, check: isGood }, JSON.stringify(value))
  })
}
