import { hasStrongR, isStrongKey, verifyStrictly } from '../../evidence/ed25519-strict.ts'
import { decodeBase64 } from './bytes.ts'

/** Accepts the signatures that src/evidence/ed25519.ts accepts, with one implementation alone. */
export function verifySignature(message: Uint8Array, publicKey: string, signature: string): boolean {
  const key = decodeBase64(publicKey)
  const bytes = decodeBase64(signature)
  if (key === undefined || bytes === undefined) return false
  return isStrongKey(key) && verifyStrictly(message, key, bytes) && hasStrongR(bytes)
}
