import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalJson } from '../../src/base/canonical.ts'
import { digestOf } from '../../src/base/digest.ts'
import { bundleOfEnvelope, type Envelope } from '../../src/evidence/envelope.ts'
import { archive, notOk } from './bundles.ts'
import { aPrivateKey, pin, signBundle } from './forge.ts'
import { mutations, type Value } from './mutations.ts'

const { gate, owner, approved, decide, verify } = await archive()
const envelopeFor = async (id: string): Promise<Envelope> =>
  (await gate.call(owner, 'GET', `/evidence/bundle/${id}?format=dsse`)).body.data
const envelope = await envelopeFor(await approved('payment.refund', 1))
const other = await envelopeFor(await decide(1))
const [signature] = envelope.signatures
assert.ok(signature !== undefined)

const payload: unknown = JSON.parse(Buffer.from(envelope.payload, 'base64').toString())
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const verdict = (claimed: unknown) => verify(bundleOfEnvelope(claimed))
const attacker = aPrivateKey()

test('the envelope of a decision is valid, and holds the bundle', () => {
  assert.deepEqual([verdict(envelope).verdict, verdict(other).verdict], ['valid', 'valid'])
  assert.equal(base64(canonicalJson(payload)), envelope.payload)
})

test('no change of an envelope is valid, and none throws', () => {
  const changed = [...mutations(envelope as unknown as Value)]
  for (const { name, value } of changed) {
    if (canonicalJson(value) === canonicalJson(envelope)) continue
    assert.deepEqual([verdict(value).valid, verdict(value).verdict], [false, 'invalid'], name)
  }
  assert.ok(changed.length > 30, String(changed.length))
})

test('no change of the payload is valid', () => {
  const changed = [...mutations(payload as Value)].filter((_, i) => i % 11 === 0)
  for (const { name, value } of changed) {
    if (canonicalJson(value) === canonicalJson(payload)) continue
    const forged = { ...envelope, payload: base64(canonicalJson(value)) }
    assert.equal(verdict(forged).verdict, 'invalid', name)
  }
  assert.ok(changed.length > 100, String(changed.length))
})

const whole = bundleOfEnvelope(envelope) as Parameters<typeof signBundle>[0]
const stranger = signBundle(whole, attacker).signatures.service
const FORGED: [name: string, forged: unknown][] = [
  ['the payload with white space', { ...envelope, payload: base64(JSON.stringify(payload, null, 1)) }],
  [
    'the payload with its members in another order',
    { ...envelope, payload: base64(JSON.stringify(reversed(payload))) },
  ],
  ['the payload with text after it', { ...envelope, payload: base64(`${canonicalJson(payload)} `) }],
  ['the payload with a byte order mark', { ...envelope, payload: base64(`\ufeff${canonicalJson(payload)}`) }],
  ['the payload in two lines', { ...envelope, payload: envelope.payload.replace(/^.{76}/, '$&\n') }],
  ['the payload in base64 of other letters', { ...envelope, payload: envelope.payload.replace(/^../, '-_') }],
  ['the payload of another decision', { ...envelope, payload: other.payload }],
  ['the signature of another decision', { ...envelope, signatures: other.signatures }],
  ['another type', { ...envelope, payloadType: 'application/vnd.gate-sidecar.export.v1+json' }],
  ['a further signature', { ...envelope, signatures: [signature, ...other.signatures] }],
  ['a signature of another key', { ...envelope, signatures: [{ ...signature, sig: stranger.signature }] }],
  [
    'a signature under the name of another key',
    {
      ...envelope,
      signatures: [{ keyid: digestOf(Buffer.from(pin('', attacker).publicKey, 'base64')), sig: stranger.signature }],
    },
  ],
  ['the whole bundle in place of what is signed', { ...envelope, payload: base64(canonicalJson(whole)) }],
  ['a payload that is no object', { ...envelope, payload: base64('[]') }],
  ['a payload without a proof', { ...envelope, payload: base64('{}') }],
]
for (const [name, forged] of FORGED) {
  test(`not valid: an envelope with ${name}`, () => {
    const result = verdict(forged)
    assert.deepEqual([result.valid, result.verdict], [false, 'invalid'])
  })
}

test('what is no envelope of a bundle is no bundle', () => {
  assert.deepEqual(notOk(verdict({ ...envelope, payload: '' })), { form: 'failed' })
})

function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).reverse())
}
