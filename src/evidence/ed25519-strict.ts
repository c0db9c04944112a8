import * as ed25519 from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'

ed25519.hashes.sha512 = sha512

/**
 * True for a public key with exactly one private key: 32 canonical bytes (RFC 8032 section 5.1.3) without a component
 * of small order. With such a component, one signature fits many messages, or fits for some verifiers only.
 */
export function isStrongKey(key: Uint8Array): boolean {
  const point = pointOf(key)
  return point !== undefined && !point.isSmallOrder() && point.isTorsionFree()
}

/** RFC 8032 section 5.1.7 with canonical encodings, S in range, and R not of small order; with the cofactor. */
export function verifyStrictly(message: Uint8Array, key: Uint8Array, signature: Uint8Array): boolean {
  const r = pointOf(signature.subarray(0, 32))
  if (signature.byteLength !== 64 || r === undefined || r.isSmallOrder()) return false
  return ed25519.verify(signature, message, key, { zip215: false })
}

/** With a strong key, what holds with the cofactor holds without it exactly when R has no component of small order. */
export function hasStrongR(signature: Uint8Array): boolean {
  return pointOf(signature.subarray(0, 32))?.isTorsionFree() === true
}

function pointOf(encoded: Uint8Array): ed25519.Point | undefined {
  try {
    return ed25519.Point.fromBytes(encoded)
  } catch {
    // The bytes encode no point of the curve, or not canonically.
    return undefined
  }
}
