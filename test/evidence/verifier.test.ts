import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { transformSync } from 'esbuild'
import fc from 'fast-check'
import * as inNode from '../../src/base/bytes.ts'
import * as inBrowser from '../../src/client/verify/bytes.ts'
import type { verifyEvidence } from '../../src/client/verify/verify.ts'
import { envelopeOf } from '../../src/evidence/envelope.ts'
import { trustFile } from '../../src/evidence/trust.ts'
import { temporaryFolder } from '../helpers.ts'
import { archive } from './bundles.ts'
import { mutations, type Value } from './mutations.ts'

const BUILT = new URL('../../dist/client/verify.js', import.meta.url)
const PYTHON = fileURLToPath(new URL('../../python', import.meta.url))

/** The verifier as a browser gets it, where there is nothing of Node. */
const browser = (() => {
  const { code } = transformSync(readFileSync(BUILT, 'utf8'), { format: 'iife', globalName: 'verifier' })
  const context = createContext({ TextDecoder, TextEncoder, Uint8Array, atob, btoa })
  runInContext(code, context)
  return runInContext('verifier', context) as { verifyEvidence: typeof verifyEvidence }
})()

const { bundleOf, approved, decide, verify, trust } = await archive()
const bundles = [await bundleOf(await decide(5)), await bundleOf(await approved('payment.refund', 50))]
const trustText = JSON.stringify(trustFile(trust))
const dir = temporaryFolder()
writeFileSync(join(dir, 'trust.json'), trustText)

interface Answer {
  verdict: string
  valid: boolean
  signatureValid: boolean
  chainValid: boolean
  timestampValid: boolean
  checks: readonly { check: string; result: string }[]
}

/** What verifiers must agree on. */
function essence({ verdict, valid, signatureValid, chainValid, timestampValid, checks }: Answer) {
  const results = Object.fromEntries(checks.map(({ check, result }) => [check, result]))
  // What has not the form is not looked at any further.
  if (results.form === 'failed') return { verdict, valid, signatureValid, chainValid, timestampValid }
  return { verdict, valid, signatureValid, chainValid, timestampValid, results }
}

function byPython(text: string): Promise<Answer> {
  const file = join(dir, 'bundle.json')
  writeFileSync(file, text)
  const args = ['-m', 'gate_sidecar.verify', file, '--trust', join(dir, 'trust.json'), '--json']
  return new Promise((resolve, reject) => {
    execFile('python3', args, { env: { ...process.env, PYTHONPATH: PYTHON } }, (error, out, err) => {
      // It ends with 1 and 2 for what is not valid.
      if (out === '') reject(error ?? new Error(err))
      else resolve(JSON.parse(out))
    })
  })
}

test('a good bundle and its envelope are valid for all three verifiers', async () => {
  for (const bundle of bundles) {
    const { signatures, ...unsigned } = bundle
    const envelope = envelopeOf('bundle', unsigned, signatures.service.publicKey, signatures.service.signature)
    for (const text of [JSON.stringify(bundle), JSON.stringify(envelope)]) {
      assert.deepEqual(browser.verifyEvidence(text, { trust: trustText }).verdict, 'valid')
      assert.equal((await byPython(text)).verdict, 'valid')
    }
    assert.equal(verify(bundle).verdict, 'valid')
  }
})

test('whatever is changed of a bundle, a browser says of it what Node says', () => {
  for (const bundle of bundles) {
    const changed = [...mutations(bundle as unknown as Value)].filter((_, i) => i % 9 === 0)
    assert.equal(changed.length > 50, true)
    for (const { name, value } of changed) {
      const here = browser.verifyEvidence(JSON.stringify(value), { trust: trustText })
      assert.deepEqual(JSON.parse(JSON.stringify(essence(here))), essence(verify(value)), name)
    }
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

test('members that occur twice are no bundle, though parsing would hide them', () => {
  const text = JSON.stringify(bundles[0]).replace('"version":"1.0"', '"version":"1.0","version":"1.0"')
  assert.equal(browser.verifyEvidence(text, { trust: trustText }).verdict, 'invalid')
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
