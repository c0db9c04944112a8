import { decodeHex, encodeHex, type Parts, sha256Hex } from './bytes.ts'

const PREFIX = 'sha256:'
const DIGEST = /^sha256:[0-9a-f]{64}$/

/** SHA-256 over the parts, in the form of every interface. */
export function digestOf(...parts: Parts): string {
  return digestOfDigits(sha256Hex(...parts))
}

/** The form a digest has in every interface: `sha256:` and 64 lower-case hexadecimal digits. */
export function formatDigest(raw: Uint8Array): string {
  return digestOfDigits(encodeHex(raw))
}

/** The digest with these 64 digits. */
export function digestOfDigits(digits: string): string {
  return PREFIX + digits
}

/** The 64 digits of a digest. */
export function digitsOf(digest: string): string {
  return digest.slice(PREFIX.length)
}

export function isDigest(text: unknown): text is string {
  return typeof text === 'string' && DIGEST.test(text)
}

/** The 32 bytes of a digest. @throws TypeError when the text has another form. */
export function parseDigest(text: string): Uint8Array {
  if (!DIGEST.test(text)) throw new TypeError('not a sha256: digest')
  return decodeHex(digitsOf(text))
}
