import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeBase64, equalBytes } from '../../src/base/bytes.ts'
import { digestOf, formatDigest, isDigest, parseDigest } from '../../src/base/digest.ts'

// FIPS 180-4 examples.
const SHA256: { text: string; hex: string }[] = [
  { text: '', hex: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
  { text: 'abc', hex: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' },
  {
    text: 'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    hex: '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  },
]

for (const { text, hex } of SHA256) {
  test(`SHA-256 of ${JSON.stringify(text.slice(0, 8))}, from text and from bytes`, () => {
    assert.equal(digestOf(text), `sha256:${hex}`)
    assert.equal(digestOf(Buffer.from(text)), `sha256:${hex}`)
    assert.equal(formatDigest(Buffer.from(hex, 'hex')), `sha256:${hex}`)
    assert.deepEqual(parseDigest(digestOf(text)), Buffer.from(hex, 'hex'))
  })
}

test('text is hashed as UTF-8', () => assert.equal(digestOf('é'), digestOf(Uint8Array.of(0xc3, 0xa9))))

test('formatDigest reads a view, not the buffer below it', () => {
  const view = new Uint8Array(Uint8Array.from({ length: 40 }, (_, i) => i).buffer, 8, 32)
  assert.equal(formatDigest(view), `sha256:${Buffer.from(view).toString('hex')}`)
})

const HEX = 'ab'.repeat(32)
const notDigests: { name: string; value: unknown }[] = [
  { name: 'no prefix', value: HEX },
  { name: 'upper-case digits', value: `sha256:${HEX.toUpperCase()}` },
  { name: 'upper-case prefix', value: `SHA256:${HEX}` },
  { name: 'one digit short', value: `sha256:${HEX.slice(1)}` },
  { name: 'one digit long', value: `sha256:${HEX}0` },
  { name: 'a line feed after', value: `sha256:${HEX}\n` },
  { name: 'no hexadecimal digit', value: `sha256:${'g'.repeat(64)}` },
  { name: 'not text', value: [`sha256:${HEX}`] },
]

test('isDigest takes the one form', () => assert.equal(isDigest(`sha256:${HEX}`), true))

for (const { name, value } of notDigests) {
  test(`isDigest refuses: ${name}`, () => {
    assert.equal(isDigest(value), false)
    if (typeof value === 'string') assert.throws(() => parseDigest(value), TypeError)
  })
}

const pairs: { name: string; a: string; b: string; equal: boolean }[] = [
  { name: 'same bytes', a: 'abc', b: 'abc', equal: true },
  { name: 'last byte differs', a: 'abc', b: 'abd', equal: false },
  { name: 'one is longer', a: 'abc', b: 'abcd', equal: false },
  { name: 'both empty', a: '', b: '', equal: true },
]

for (const { name, a, b, equal } of pairs) {
  test(`equalBytes: ${name}`, () => assert.equal(equalBytes(Buffer.from(a), Buffer.from(b)), equal))
}

const base64: { name: string; text: unknown; bytes?: string }[] = [
  { name: 'no bytes', text: '', bytes: '' },
  { name: 'two pads', text: 'Zg==', bytes: 'f' },
  { name: 'one pad', text: 'Zm8=', bytes: 'fo' },
  { name: 'no pad', text: 'Zm9v', bytes: 'foo' },
  { name: 'missing pad', text: 'Zg' },
  { name: 'bits after the last byte', text: 'Zh==' },
  { name: 'URL alphabet', text: '_-8=' },
  { name: 'white space', text: 'Zm 9v' },
  { name: 'line feed after', text: 'Zm9v\n' },
  { name: 'text after the pad', text: 'Zg==Zg==' },
  { name: 'a NUL', text: 'Zm9v\0' },
  { name: 'not text', text: 1 },
]

for (const { name, text, bytes } of base64) {
  test(`decodeBase64: ${name} is ${bytes === undefined ? 'refused' : 'read'}`, () => {
    const read = decodeBase64(text)
    assert.equal(read && Buffer.from(read).toString('latin1'), bytes)
  })
}

test('property: base64 of any bytes is read back', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      assert.deepEqual(decodeBase64(Buffer.from(bytes).toString('base64')), Buffer.from(bytes))
    }),
  )
})
