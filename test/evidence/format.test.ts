import assert from 'node:assert/strict'
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseCheckpoint } from '../../src/audit/checkpoint.ts'
import type { Entry, Header } from '../../src/audit/entry.ts'
import { GrowingTree, type Hash, inclusionPath, isIncluded, leafHash, nodeHash } from '../../src/audit/merkle.ts'
import { decodeBase64, encodeBase64 } from '../../src/base/bytes.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { digestOf, parseDigest } from '../../src/base/digest.ts'
import { type Bundle, buildBundle } from '../../src/evidence/bundle.ts'
import { bundleOfEnvelope, type Envelope, envelopeOf } from '../../src/evidence/envelope.ts'
import { parseNote, parseVkey, vkeyOf } from '../../src/evidence/note.ts'
import { signedBytes } from '../../src/evidence/statement.ts'
import { type Certificate, type Rotation, readTrust, type TrustFile, trustFile } from '../../src/evidence/trust.ts'
import { verifyBundle } from '../../src/evidence/verify.ts'
import { type HashAt, rootOf } from '../audit/root-of.ts'
import { notOk } from './bundles.ts'
import { certify, pin, rotate, signBundle, signCheckpoint } from './forge.ts'

interface Vector {
  origin: string
  chain: string
  entries: { header: string; hash: string; sections: { name: string; salt: string; json: string }[] }[]
  leaves: string[]
  roots: string[]
  inclusion: string[]
  vkey: string
  checkpoint: string
  certificate: Certificate
  rotation: Rotation
  bundle: Bundle
  /** An allow by an approval, with the keys of its voters. */
  approved: Bundle
  pae: string
  envelope: Envelope
  trust: TrustFile
}
/** Computed from docs/evidence.md by another program (make_vector.py beside it). */
const vector: Vector = JSON.parse(readFileSync(new URL('../testdata/format/vector.json', import.meta.url), 'utf8'))
const { origin, chain } = vector

// The secret keys of RFC 8032, 7.1: TEST 1, 2 and 3.
const [log, bundleKey, next] = [
  '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
  '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
  'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
].map(privateKeyOf) as [KeyObject, KeyObject, KeyObject]

function privateKeyOf(seed: string): KeyObject {
  const der = Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex')
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}

const bytes = (base64: string): Uint8Array => decodeBase64(base64) ?? assert.fail(`${base64} is not base64`)
const entries = vector.entries.map(
  ({ header, hash, sections }): Entry => ({
    header: JSON.parse(header) as Header,
    hash,
    sections: sections.map(({ name, salt, json }) => ({ name, salt: Buffer.from(salt, 'hex'), json })),
  }),
)
const leaves = entries.map(({ hash }) => leafHash(parseDigest(hash)))
const hashAt: HashAt = ({ level, index }): Hash =>
  level === 0
    ? (leaves[index] ?? assert.fail('no such leaf'))
    : nodeHash(hashAt({ level: level - 1, index: 2 * index }), hashAt({ level: level - 1, index: 2 * index + 1 }))
const root = bytes(vector.roots[2] ?? '')
const checkpoint = { origin, chain, size: 3, root }

test('golden vector: leaves and the roots of 1, 2 and 3 entries', () => {
  assert.deepEqual(leaves.map(encodeBase64), vector.leaves)
  const tree = new GrowingTree()
  for (const [i, leaf] of leaves.entries()) {
    tree.append(leaf)
    assert.equal(encodeBase64(tree.root()), vector.roots[i])
    assert.equal(encodeBase64(rootOf({ begin: 0, end: i + 1 }, hashAt)), vector.roots[i])
  }
})

test('golden vector: the proof that entry 1 is among 3', () => {
  const path = inclusionPath(1, 3).map((range) => encodeBase64(rootOf(range, hashAt)))
  assert.deepEqual(path, vector.inclusion)
  assert.equal(isIncluded(bytes(vector.leaves[1] ?? ''), 1, { size: 3, root }, vector.inclusion.map(bytes)), true)
})

test('golden vector: the vkey', () => {
  assert.equal(vkeyOf(pin(origin, log)), vector.vkey)
  assert.deepEqual(parseVkey(vector.vkey), { name: origin, publicKey: pin(origin, log).publicKey })
})

test('golden vector: the checkpoint of 3 entries', () => {
  assert.equal(signCheckpoint(checkpoint, log), vector.checkpoint)
  const parsed = parseCheckpoint(parseNote(vector.checkpoint)?.text ?? '')
  assert.deepEqual(parsed && { ...parsed, root: encodeBase64(parsed.root) }, { ...checkpoint, root: vector.roots[2] })
})

test('golden vector: the certificate and the rotation', () => {
  assert.deepEqual(certify(vector.certificate.statement, log), vector.certificate)
  assert.deepEqual(rotate(origin, [log, next], vector.rotation.statement.at), vector.rotation)
})

test('golden vector: the bundle', () => {
  const [previous, decided] = entries
  assert.ok(decided !== undefined)
  const built = buildBundle({
    bundleId: vector.bundle.bundleId,
    origin,
    exportedAt: vector.bundle.exportedAt,
    decided: { entry: decided, inclusion: vector.inclusion.map(bytes) },
    previous,
    approval: [],
    keys: [],
    beside: [],
    checkpoint: vector.checkpoint,
    certificate: vector.certificate,
    rotations: [vector.rotation],
  })
  assert.equal(digestOf(signedBytes('bundle', built)), vector.pae)
  assert.deepEqual(signBundle({ ...built, signatures: vector.bundle.signatures }, bundleKey), vector.bundle)
})

test('golden vector: the envelope', () => {
  const { signatures, ...unsigned } = vector.bundle
  const { publicKey, signature } = signatures.service
  assert.deepEqual(envelopeOf('bundle', unsigned, publicKey, signature), vector.envelope)
  assert.equal(canonicalJson(bundleOfEnvelope(vector.envelope)), canonicalJson(vector.bundle))
})

test('golden vector: the trust file, with which the bundle and its envelope are valid', () => {
  const trust = readTrust(JSON.stringify(vector.trust))
  assert.deepEqual(trustFile(trust), vector.trust)
  for (const evidence of [vector.bundle, vector.approved, bundleOfEnvelope(vector.envelope)]) {
    const result = verifyBundle(evidence, { trust, nowMs: Date.parse(vector.bundle.exportedAt) })
    assert.deepEqual([result.verdict, notOk(result)], ['valid', {}])
  }
})

test('golden vector: the bundle is valid for who pinned the first log key, or the one after it', () => {
  for (const key of [pin(origin, log), pin(origin, next)]) {
    const result = verifyBundle(vector.bundle, { trust: { logKeys: [key], revoked: new Map() }, nowMs: Date.now() })
    assert.deepEqual(notOk(result), {})
  }
})
