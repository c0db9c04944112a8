import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../src/base/bytes.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { STATEMENT_TYPES, signedBytes } from '../../src/evidence/statement.ts'
import { vectorText } from '../base/vectors.ts'
import { contentOf, fromHex, hashOf, keyOfDidKey, READERS, readAerf, type Vector, vectorsOf } from './receipts.ts'

/**
 * Receipts of other products, as these publish them for implementers: canonical JSON, SHA-256, Ed25519 and the linking of chains
 * are what their formats and ours have in common, so each vector must come out by our code as it is stated to.
 */
const vectors = vectorsOf('asqav.jsonl')

const NOT_READ: Record<string, string> = {
  'agentreceipts-upstream-interop': 'no receipt; its tables are checked below',
  'asqav-05-hash-mode-prod': 'signed by ML-DSA-65',
  'asqav-06-mldsa65-payload-prod': 'signed by ML-DSA-65',
  'authproof-01-genesis-real-sdk': 'signed by ECDSA over P-256, not over canonical JSON',
  'authproof-02-forged-sig': 'the same',
  'authproof-03-tampered-scope': 'the same',
  'dsse-attestation-ml-dsa-65': 'signed by ML-DSA-65; its encodings are checked below',
}

interface Stated {
  format: string
  outcome: string
  reason_code: string
}
const statedOf = (vector: Vector): Stated | undefined =>
  'expected.json' in vector.files ? contentOf<Stated>(vector, 'expected.json') : undefined
const found = vectors.map((vector) => {
  const stated = statedOf(vector)
  return { name: vector.name, stated, reason: READERS[stated?.format ?? '']?.(vector) }
})

test('the receipts are there as a whole, and exactly those are not read of which it is said why', () => {
  assert.equal(found.length, 53)
  const unread = found.filter(({ reason }) => reason === undefined).map(({ name }) => name)
  assert.deepEqual(unread.sort(), Object.keys(NOT_READ).sort())
})

/**
 * These are called canonical by RFC 8785 and are not: their amounts are signed as Python prints them, 500.0, where section 3.2.2.3
 * of it has 500. So we find their signatures bad, as every implementation of the RFC does.
 */
const AS_PYTHON_PRINTS: Record<string, string> = {
  'aerf-01-genesis': 'issuer_signature',
  'aerf-02-chain-link': 'chain',
  'aerf-up-01-genesis-happy-path': 'issuer_signature',
}

for (const { name, stated, reason } of found) {
  if (reason === undefined) continue
  const other = AS_PYTHON_PRINTS[name]
  test(`receipt ${name}: ${other === undefined ? stated?.outcome : 'not of RFC 8785,'} ${other ?? stated?.reason_code}`, () => {
    assert.equal(reason, other ?? stated?.reason_code)
    if (other === undefined) assert.equal(stated?.outcome, reason === '' ? 'PASS' : 'FAIL')
    else assert.deepEqual([stated?.outcome, stated?.reason_code], ['PASS', ''])
  })
}

const namedVector = (name: string): Vector => vectors.find((vector) => vector.name === name) ?? assert.fail(name)

test('printing amounts as Python does is all that those need to come out as stated', () => {
  const asPython = (value: unknown): string => canonicalJson(value).replace(/("amount":\d+)(?=[,}])/g, '$1.0')
  for (const vector of vectors.filter((one) => statedOf(one)?.format === 'aerf'))
    assert.equal(readAerf(vector, asPython), statedOf(vector)?.reason_code, vector.name)
})

const upstream = namedVector('agentreceipts-upstream-interop')

interface Canonical {
  name: string
  input: unknown
  canonical: string
  sha256?: string
  expectedHash?: string
  expected_verify?: boolean
  counterparty_binding?: { envelope_hash_base64?: string }
}
const published: Canonical[] = JSON.parse(vectorText('receipts/asqav-canonical.json')).vectors
const ofSdks = contentOf<{ canonicalization_vectors: Canonical[]; receipt_hash_vectors: HashVector[] }>(
  upstream,
  'canonicalization_vectors.json',
)

test('the texts are there as a whole', () => {
  const { canonicalization_vectors, receipt_hash_vectors } = ofSdks
  assert.deepEqual([published.length, canonicalization_vectors.length, receipt_hash_vectors.length], [21, 32, 8])
})

for (const { name, input, canonical, sha256, expectedHash } of [...published, ...ofSdks.canonicalization_vectors]) {
  test(`canonical text and hash: ${name}`, () => {
    assert.equal(canonicalJson(input), canonical)
    const stated = sha256 ?? expectedHash?.replace('sha256:', '')
    if (stated !== undefined) assert.equal(hashOf(input), stated)
  })
}

test('what has the stated text and hash, and is refused all the same, is refused for what neither shows', () => {
  const NOT_SHOWN: Record<string, string> = {
    tampered_signature: 'a signature by ML-DSA-65',
    swapped_public_key: 'a signature by ML-DSA-65',
    card_version_downgrade: 'a signature by ML-DSA-65',
    stale_card: 'how old a card may be',
    nonce_mismatch: 'which nonce was asked for',
    capture_topology_unknown_value_rejected: 'which values a member of the format may have',
    counterparty_binding_missing_envelope_hash_rejected: 'which members the format asks for',
  }
  const refused = published.filter(({ expected_verify }) => expected_verify === false).map(({ name }) => name)
  assert.deepEqual(refused.sort(), Object.keys(NOT_SHOWN).sort())
})

test('a digest that is stated of another vector is not the digest of that one: theirs is wrong, in each of four', () => {
  const [envelope] = published.filter(({ name }) => name === 'counterparty_binding_envelope_byte_equality')
  const stated = published.flatMap(({ counterparty_binding }) => counterparty_binding?.envelope_hash_base64 ?? [])
  assert.equal(stated.length, 3)
  for (const digest of stated) assert.notEqual(digest, fromHex(hashOf(envelope?.input)))
})

interface HashVector {
  name: string
  receipt?: object
  expectedHash?: string
  mustContainSubstring?: string
}
const NOT_HASHED: Record<string, string> = {
  receipt_optional_null_becomes_absent: 'members that are null are left out first, which no canonical form does',
  receipt_parameters_disclosure_null_becomes_absent: 'the same',
  receipt_signature_preservation_legacy_0_2_0: 'has no receipt',
}

test('exactly the hashes of receipts are not checked of which it is said why', () => {
  const absent = hashOf(ofSdks.receipt_hash_vectors[0]?.receipt)
  const others = ofSdks.receipt_hash_vectors.filter(({ receipt, expectedHash, mustContainSubstring = '' }) => {
    if (receipt === undefined) return true
    const stated = expectedHash?.startsWith('SAME_AS_') ? `sha256:${absent}` : expectedHash
    return `sha256:${hashOf(receipt)}` !== stated || !canonicalJson(receipt).includes(mustContainSubstring)
  })
  assert.deepEqual(others.map(({ name }) => name).sort(), Object.keys(NOT_HASHED).sort())
})

interface DidKey {
  name: string
  public_key_hex: string
  did: string
}
for (const { name, public_key_hex, did } of contentOf<{ vectors: DidKey[] }>(upstream, 'did_key_vectors.json').vectors)
  test(`the key that a did:key stands for: ${name}`, () => {
    assert.equal(keyOfDidKey(did), fromHex(public_key_hex))
  })

/** The pre-authentication encoding of DSSE, of any type and payload. */
function pae(type: string, payload: Uint8Array): Uint8Array {
  return Buffer.concat([utf8(`DSSEv1 ${utf8(type).byteLength} ${type} ${payload.byteLength} `), payload])
}

test('what DSSE signs is encoded as others encode it, and our statements are encoded so', () => {
  const attestation = namedVector('dsse-attestation-ml-dsa-65')
  const known = contentOf<{ vectors: { payloadType: string; body: string; pae_hex: string }[] }>(
    attestation,
    'pae_kat.json',
  ).vectors
  assert.equal(known.length, 2)
  for (const { payloadType, body, pae_hex } of known)
    assert.equal(Buffer.from(pae(payloadType, utf8(body))).toString('hex'), pae_hex)
  const statement = { origin: 'gate-ä', n: [1, 'é'] }
  for (const [kind, type] of Object.entries(STATEMENT_TYPES))
    assert.deepEqual(
      Buffer.from(signedBytes(kind as keyof typeof STATEMENT_TYPES, statement)),
      pae(type, utf8(canonicalJson(statement))),
    )
})
