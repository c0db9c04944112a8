import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import * as inNode from '../../src/base/bytes.ts'
import * as inBrowser from '../../src/client/verify/bytes.ts'
import type { Bundle } from '../../src/evidence/bundle.ts'
import { trustFile } from '../../src/evidence/trust.ts'
import { verifyBundle } from '../../src/evidence/verify.ts'
import { some } from '../tier.ts'
import { archive, envelopeFor } from './bundles.ts'
import { mutations, type Value } from './mutations.ts'
import { byPython, ours } from './python.ts'

const { bundleOf, approved, decide, verify, trust, resign } = await archive()
const bundles = [await bundleOf(await decide(5)), await bundleOf(await approved('payment.refund', 50))]
const trustText = JSON.stringify(trustFile(trust))

const now = new Date().toISOString()
const nowMs = Date.parse(now)
const asText = (value: unknown): string => JSON.stringify(value)
const byNode = (value: unknown) => ours(verifyBundle(value, { trust, nowMs }))

test('a good bundle and its envelope are valid for Python too', async () => {
  for (const bundle of bundles) {
    assert.equal(verify(bundle).verdict, 'valid')
    const texts = [bundle, envelopeFor(bundle)].map(asText)
    const told = await byPython(texts.map((evidence) => ({ evidence, trust: trustText, now })))
    assert.deepEqual(
      told.map(({ verdict }) => verdict),
      ['valid', 'valid'],
    )
  }
})

for (const [name, every, sign] of [
  ['is changed of a bundle', 1, (value: Value): unknown => value],
  ['is changed of a bundle, and signed again with both private keys', 4, resignedOf],
] as const) {
  test(`whatever ${name}, Python says of every check what Node says`, async () => {
    const changed = bundles.flatMap((bundle) => [...mutations(bundle as unknown as Value)])
    assert.equal(changed.length > 2000, true)
    const sample = changed.filter((_, i) => i % every === 0)
    const cases = some(sample).map((one) => ({ name: one.name, value: sign(one.value) }))
    const told = await byPython(cases.map(({ value }) => ({ evidence: asText(value), trust: trustText, now })))
    assert.equal(told.length, cases.length)
    for (const [i, one] of cases.entries()) assert.deepEqual(told[i], byNode(one.value), one.name)
  })
}

/** Signs the bundle again; returns a value without a place for a signature as it is. */
function resignedOf(value: Value): unknown {
  const { proof } = (value ?? {}) as { proof?: Partial<Bundle['proof']> | null }
  return typeof proof?.origin === 'string' ? resign(value as unknown as Bundle) : value
}

test('property: bytes in a browser are what they are in Node', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'binary' }), (bytes, text) => {
      assert.deepEqual(Buffer.from(inBrowser.sha256(bytes, text)), Buffer.from(inNode.sha256(bytes, text)))
      assert.equal(inBrowser.sha256Hex(text, bytes), inNode.sha256Hex(text, bytes))
      const base64 = inNode.encodeBase64(bytes)
      assert.equal(inBrowser.encodeBase64(bytes), base64)
      assert.deepEqual(inBrowser.decodeBase64(base64), new Uint8Array(bytes))
      assert.equal(inBrowser.decodeBase64(text) === undefined, inNode.decodeBase64(text) === undefined)
      const hex = inNode.encodeHex(bytes)
      assert.equal(inBrowser.encodeHex(bytes), hex)
      assert.deepEqual(inBrowser.decodeHex(hex), new Uint8Array(bytes))
      assert.deepEqual(Buffer.from(inBrowser.utf8(text)), Buffer.from(inNode.utf8(text)))
      for (const other of [bytes, bytes.slice(1), new Uint8Array(bytes.length)])
        assert.equal(inBrowser.equalBytes(bytes, other), inNode.equalBytes(bytes, other))
    }),
  )
})
