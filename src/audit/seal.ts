import { hmacSha256, utf8 } from '../base/bytes.ts'

/** Label of the bytes that a seal authenticates; docs/format.md is the specification. */
const SEAL_LABEL = 'gate-sidecar/seal/v1\n'
const SECRET_LABEL = 'gate-sidecar/seal-key/v1\n'

/** Key of the seals, which follows from the private log key. Plain data: a thread receives it. */
export interface SealKey {
  /** Id of the log key. */
  id: string
  secret: Uint8Array
}

/** @param seed the 32 bytes of the private key (RFC 8032 section 5.1.5) */
export function sealKeyOf(id: string, seed: Uint8Array): SealKey {
  return { id, secret: hmacSha256(seed, utf8(SECRET_LABEL)) }
}

/**
 * Proof that the writer of the newest entry of a chain held the log key (HMAC-SHA-256, RFC 2104).
 *
 * @param size number of entries
 * @param hash `sha256:` digest of the newest entry
 */
export function sealOf(
  { secret }: SealKey,
  { origin, chain, size, hash }: { origin: string; chain: string; size: number; hash: string },
): Uint8Array {
  return hmacSha256(secret, utf8(`${SEAL_LABEL}${origin}\n${chain}\n${size}\n${hash}\n`))
}
