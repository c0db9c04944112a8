import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { encodeBase64, utf8 } from '../base/bytes.ts'
import { SPKI_PREFIX } from './ed25519.ts'
import { type StatementKind, signedBytes } from './statement.ts'

/** Base64 of the 32 raw bytes of the public half. */
export function publicKeyOf(privateKey: KeyObject): string {
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  return encodeBase64(spki.subarray(SPKI_PREFIX.byteLength))
}

/** The 32 bytes of the private half (RFC 8032 section 5.1.5). */
export function seedOf(privateKey: KeyObject): Uint8Array {
  return Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url')
}

/** Base64 of the 64 bytes of a signature (RFC 8032 section 5.1.6). */
export function signatureOf(message: Uint8Array, privateKey: KeyObject): string {
  return encodeBase64(sign(null, message, privateKey))
}

/** The signature over a statement, in base64. */
export function signStatement(kind: StatementKind, statement: object, privateKey: KeyObject): string {
  return signatureOf(signedBytes(kind, statement), privateKey)
}

/** True when the key's signature verifies with its public half, which is derived from it (RFC 8032 section 5.1.5). */
export function canSign(privateKey: KeyObject): boolean {
  const probe = utf8('gate-sidecar/self-test/v1\n')
  return verify(null, probe, createPublicKey(privateKey), sign(null, probe, privateKey))
}
