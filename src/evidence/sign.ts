import { createPublicKey, type KeyObject, sign as signBytes, verify as verifyBytes } from 'node:crypto'
import * as ed25519 from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'
import { canonicalJson } from '../base/canonical.ts'
import { decodeBase64 } from '../base/digest.ts'
import type { Bundle, UnsignedBundle } from './bundle.ts'

ed25519.hashes.sha512 = sha512

const PAYLOAD_TYPE = 'application/vnd.gate-sidecar.trust-bundle.v1+json'
/** SubjectPublicKeyInfo of Ed25519 up to the 32 key bytes (RFC 8410 section 4). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

export const ALGORITHM = 'ed25519'

/** The bytes that are signed: DSSE v1 pre-authentication encoding of the canonical bundle without its signatures. */
export function signedBytes(bundle: UnsignedBundle): Buffer {
  const payload = Buffer.from(canonicalJson(bundle))
  return Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.byteLength} `), payload])
}

/** Base64 of the 32 raw bytes of the public half. */
export function publicKeyOf(privateKey: KeyObject): string {
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  return spki.subarray(SPKI_PREFIX.byteLength).toString('base64')
}

export function signBundle(bundle: UnsignedBundle, privateKey: KeyObject): Bundle {
  const signature = signBytes(null, signedBytes(bundle), privateKey).toString('base64')
  return { ...bundle, signatures: { service: { algorithm: ALGORITHM, publicKey: publicKeyOf(privateKey), signature } } }
}

/** True when what this key signs is what its public half verifies; done once at start, it also readies the verifiers. */
export function canSign(privateKey: KeyObject): boolean {
  const probe = Buffer.from('gate-sidecar/self-test/v1\n')
  return verifySignature(probe, publicKeyOf(privateKey), signBytes(null, probe, privateKey).toString('base64'))
}

/**
 * True when both of two implementations accept. They differ on crafted keys and signatures (small order,
 * non-canonical), and evidence must not be valid for one reader only.
 */
export function verifySignature(message: Uint8Array, publicKey: string, signature: string): boolean {
  const key = decodeBase64(publicKey)
  const bytes = decodeBase64(signature)
  if (key?.byteLength !== 32 || bytes?.byteLength !== 64) return false
  return verifyWithNode(message, key, bytes) && verifyWithNoble(message, key, bytes)
}

function verifyWithNode(message: Uint8Array, key: Buffer, signature: Buffer): boolean {
  const spki = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, key]), format: 'der', type: 'spki' })
  return verifyBytes(null, message, spki, signature)
}

/** R of small order, which no honest signer makes, is refused here too: OpenSSL does so since 3.5, and not before. */
function verifyWithNoble(message: Uint8Array, key: Buffer, signature: Buffer): boolean {
  if (!ed25519.verify(signature, message, key, { zip215: false })) return false
  return !ed25519.Point.fromBytes(signature.subarray(0, 32)).isSmallOrder()
}
