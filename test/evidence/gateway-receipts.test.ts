import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBase64, utf8 } from '../../src/base/bytes.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import {
  areSigned,
  contentOf,
  fromBase64url,
  fromHex,
  hashOf,
  isSigned,
  type Vector,
  vectorsOf,
  without,
} from './receipts.ts'

/** Receipts and delegations of a gateway of others, as these publish them (testdata/vectors/receipts/SOURCE.md). */
const folders = new Map(vectorsOf('scopeblind.jsonl').map((vector) => [vector.name, vector]))
const folder = (name: string): Vector => folders.get(name) ?? assert.fail(`there is no ${name}`)

const NOT_READ: Record<string, string> = {
  'aps-gateway-enforcement/1-fail-closed': 'how a gateway acts whose key is gone; there is no receipt',
  expected: 'the form of receipts, none of which is there',
  fixtures: 'what a Cedar policy decides',
}
const READ = [
  'a2a-trust-header',
  'aps-gateway-enforcement/2-external-verification',
  'aps-gateway-enforcement/3-state-drift',
  'aps-gateway-enforcement/4-portability',
  'aps-gateway-enforcement/_keys',
]

test('all is there, and exactly that is not read of which it is said why', () => {
  assert.deepEqual([...folders.keys()].sort(), [...READ, ...Object.keys(NOT_READ)].sort())
})

interface Signature {
  pubkey: string
  sig: string
}
interface Link {
  status?: string
  signature: Signature
}
interface Attestation {
  payload: { delegation_chain_root: string }
  signature: Signature
}
interface Delegation {
  expected_verifier_output: string
  header_value: {
    delegation_chain: Link[]
    delegation_chain_root: string
    attestations?: Attestation[]
    agent_card?: { trust: { signals: Attestation[] } }
    deny_receipt?: { payload: object; signature: Signature }
  }
}

/** Links are signed without their signature; attestations name the root, SHA-256 of the canonical text of all links. */
function verdictOf({ header_value }: Delegation): string {
  const { delegation_chain, delegation_chain_root, attestations, agent_card, deny_receipt } = header_value
  const attested = attestations ?? agent_card?.trust.signals ?? []
  const statements = deny_receipt === undefined ? attested : [...attested, deny_receipt]
  const signed = [
    ...delegation_chain.map((link) => ({ payload: without(link, 'signature'), signature: link.signature })),
    ...statements,
  ]
  for (const { payload, signature } of signed)
    if (!isSigned(payload, fromHex(signature.pubkey), fromHex(signature.sig))) return 'bad signature'
  if (delegation_chain_root !== `sha256:${hashOf(delegation_chain)}`) return 'bad root'
  if (attested.some(({ payload }) => payload.delegation_chain_root !== delegation_chain_root)) return 'invalid'
  return delegation_chain.some(({ status }) => status === 'revoked') ? 'deny' : 'valid'
}

const delegations = folder('a2a-trust-header')
for (const file of Object.keys(delegations.files).filter((name) => name !== '_keys.json')) {
  const delegation = contentOf<Delegation>(delegations, file)
  test(`delegation ${file}: ${delegation.expected_verifier_output}`, () => {
    assert.equal(verdictOf(delegation), delegation.expected_verifier_output)
  })
}

interface Receipt {
  kid: string
  payload: { params_hash: string; state_hash_at_signing?: string }
  signature: string
}
interface Keys {
  keys: { kid: string; x: string }[]
}
const gatewayKeys = contentOf<Keys>(folder('aps-gateway-enforcement/_keys'), 'jwks.json').keys

/** The key of the gateway, in base64, once its signature and the digest of what was asked are found good. */
function keyOfReceipt(vector: Vector): string {
  const receipt = contentOf<Receipt>(vector, 'receipt.json')
  const key = fromBase64url(gatewayKeys.find(({ kid }) => kid === receipt.kid)?.x ?? '')
  assert.equal(isSigned(without(receipt, 'signature'), key, fromHex(receipt.signature)), true)
  const { params } = contentOf<{ params: object }>(vector, 'input.json')
  assert.equal(receipt.payload.params_hash, `sha256:${hashOf(params)}`)
  return key
}

test('a receipt is verified with its canonical text, its hash and its key', () => {
  const vector = folder('aps-gateway-enforcement/2-external-verification')
  const stated = contentOf<{ receipt_signature_valid: boolean; receipt_canonical_sha256: string }>(
    vector,
    'expected-output.json',
  )
  keyOfReceipt(vector)
  const signed = without(contentOf<Receipt>(vector, 'receipt.json'), 'signature')
  assert.equal(canonicalJson(signed), vector.files['canonical.txt'])
  assert.deepEqual([stated.receipt_signature_valid, stated.receipt_canonical_sha256], [true, hashOf(signed)])
})

test('the state that a receipt was signed for, and another one, have the stated digests', () => {
  const vector = folder('aps-gateway-enforcement/3-state-drift')
  const stated = contentOf<{
    receipt_signature_valid: boolean
    state_hash_at_signing: string
    state_hash_at_execution: string
  }>(vector, 'expected-output.json')
  keyOfReceipt(vector)
  const digestOfState = (file: string): string => `sha256:${hashOf(contentOf(vector, file))}`
  const before = digestOfState('state-at-signing.json')
  assert.equal(contentOf<Receipt>(vector, 'receipt.json').payload.state_hash_at_signing, before)
  assert.deepEqual(
    [stated.receipt_signature_valid, stated.state_hash_at_signing, stated.state_hash_at_execution],
    [true, before, digestOfState('state-at-execution.json')],
  )
})

test('the same receipt in an envelope of DSSE is signed by the same key, over the bytes as they are', () => {
  const vector = folder('aps-gateway-enforcement/4-portability')
  const key = keyOfReceipt(vector)
  const { payloadType, payload, signatures } = contentOf<{
    payloadType: string
    payload: string
    signatures: { sig: string }[]
  }>(vector, 'intoto-envelope.json')
  const bytes = decodeBase64(payload) ?? assert.fail('the payload is no base64')
  const encoded = Buffer.concat([utf8(`DSSEv1 ${payloadType.length} ${payloadType} ${bytes.byteLength} `), bytes])
  const [signature] = signatures
  assert.equal(areSigned(encoded, key, signature?.sig ?? ''), true)
  assert.equal(areSigned(bytes, key, signature?.sig ?? ''), false)
  const statement: { predicate: object } = JSON.parse(Buffer.from(bytes).toString())
  assert.deepEqual(statement, contentOf<object>(vector, 'in-toto-statement.json'))
  assert.deepEqual(statement.predicate, contentOf<object>(vector, 'receipt.json'))
})
