import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** Byte functions for Node; src/client/verify/bytes.ts has those for browsers. */

/** Input of a hash: text as UTF-8, bytes as they are, one after the other. */
export type Parts = readonly (string | Uint8Array)[]

/** The 32 bytes of SHA-256 over the parts. */
export function sha256(...parts: Parts): Uint8Array {
  // A binary string costs a third of the time of a buffer.
  return Buffer.from(hash('sha256', joined(parts), 'binary'), 'binary')
}

/** SHA-256 over the parts, in lower-case hexadecimal digits. */
export function sha256Hex(...parts: Parts): string {
  return hash('sha256', joined(parts), 'hex')
}

/** HMAC with SHA-256 (RFC 2104), 32 bytes. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update(message).digest()
}

/** Bytes of one hash at a time, so that nothing is allocated for short ones: every section of every entry is hashed. */
const scratch = Buffer.allocUnsafeSlow(16 * 1024)
/** UTF-8 of a UTF-16 unit has at most three bytes. */
const MAX_BYTES_A_UNIT = 3

/** Joins the parts, since hashing part by part costs more than copying. The result is good until the next call. */
function joined(parts: Parts): string | Uint8Array {
  const [first = '', ...others] = parts
  if (others.length === 0) return first
  let limit = 0
  for (const part of parts) limit += typeof part === 'string' ? part.length * MAX_BYTES_A_UNIT : part.byteLength
  const bytes = limit <= scratch.byteLength ? scratch : Buffer.allocUnsafe(limit)
  let at = 0
  for (const part of parts) {
    if (typeof part === 'string') at += bytes.write(part, at)
    else {
      bytes.set(part, at)
      at += part.byteLength
    }
  }
  return bytes.subarray(0, at)
}

/** Compares in constant time; false when the lengths differ. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}

/** Lower-case hexadecimal digits, two a byte. */
export function encodeHex(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('hex')
}

/** @param text hexadecimal digits, two a byte */
export function decodeHex(text: string): Uint8Array {
  return Buffer.from(text, 'hex')
}

/** Standard base64 with padding (RFC 4648 section 4). */
export function encodeBase64(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('base64')
}

/**
 * Bytes of standard base64 with canonical padding (RFC 4648 section 4 and 3.5), or undefined:
 * decoders disagree on everything else, so two texts could stand for the same bytes.
 */
export function decodeBase64(text: unknown): Uint8Array | undefined {
  if (typeof text !== 'string') return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

/** The text as UTF-8. */
export function utf8(text: string): Uint8Array {
  return Buffer.from(text)
}

/** Wraps the same bytes, without a copy. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
