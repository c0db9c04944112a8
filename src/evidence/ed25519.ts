import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { decodeBase64 } from '../base/bytes.ts'
import { memo } from '../base/memo.ts'
import { isStrongKey, verifyStrictly } from './ed25519-strict.ts'

/** SubjectPublicKeyInfo of Ed25519 up to the 32 key bytes (RFC 8410 section 4). */
export const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

/**
 * True when two implementations accept, and no third one refuses. Implementations differ on crafted keys and signatures
 * (small order, non-canonical), and evidence must not be valid for one reader only.
 *
 * @param publicKey base64 of 32 bytes
 * @param signature base64 of 64 bytes
 */
export function verifySignature(message: Uint8Array, publicKey: string, signature: string): boolean {
  const key = decodeBase64(publicKey)
  const bytes = decodeBase64(signature)
  if (key === undefined || bytes === undefined) return false
  return verifyWithNode(message, key, bytes) && isStrongKey(key) && verifyStrictly(message, key, bytes)
}

/** Verifies many signatures as one implementation does, twenty times as fast. */
export function quickVerifier(): typeof verifySignature {
  const keyObject = memo((publicKey: string) => {
    const key = decodeBase64(publicKey)
    return key !== undefined && isStrongKey(key) ? keyObjectOf(key) : undefined
  })
  return (message, publicKey, signature) => {
    const key = keyObject(publicKey)
    const bytes = decodeBase64(signature)
    return key !== undefined && bytes !== undefined && verify(null, message, key, bytes)
  }
}

function verifyWithNode(message: Uint8Array, key: Uint8Array, signature: Uint8Array): boolean {
  return key.byteLength === 32 && signature.byteLength === 64 && verify(null, message, keyObjectOf(key), signature)
}

function keyObjectOf(key: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, key]), format: 'der', type: 'spki' })
}
