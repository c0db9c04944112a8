import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import * as inNode from '../../src/base/bytes.ts'
import * as inBrowser from '../../src/client/verify/bytes.ts'
import { trustFile } from '../../src/evidence/trust.ts'
import { temporaryFolder } from '../helpers.ts'
import { verifyByPython } from '../python.ts'
import { archive, envelopeFor } from './bundles.ts'
import { mutations, type Value } from './mutations.ts'

const { bundleOf, approved, decide, verify, trust } = await archive()
const bundles = [await bundleOf(await decide(5)), await bundleOf(await approved('payment.refund', 50))]
const dir = temporaryFolder()
writeFileSync(join(dir, 'trust.json'), JSON.stringify(trustFile(trust)))

function byPython(text: string): Promise<{ verdict: string }> {
  const file = join(dir, 'bundle.json')
  writeFileSync(file, text)
  return verifyByPython(file, join(dir, 'trust.json'))
}

test('a good bundle and its envelope are valid for Python too', async () => {
  for (const bundle of bundles) {
    assert.equal(verify(bundle).verdict, 'valid')
    for (const value of [bundle, envelopeFor(bundle)])
      assert.equal((await byPython(JSON.stringify(value))).verdict, 'valid')
  }
})

test('whatever is changed of a bundle, Python says of it what Node says', async () => {
  for (const bundle of bundles) {
    const changed = [...mutations(bundle as unknown as Value)].filter((_, i) => i % 97 === 0)
    assert.equal(changed.length > 5, true)
    for (const { name, value } of changed) {
      // Which check finds that a time is malformed, the specification leaves open.
      assert.equal((await byPython(JSON.stringify(value))).verdict, verify(value).verdict, name)
    }
  }
})

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
