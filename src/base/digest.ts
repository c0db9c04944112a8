import { hash, timingSafeEqual } from 'node:crypto'

const DIGEST = /^sha256:[0-9a-f]{64}$/

/** The form a digest has in every interface: `sha256:` and 64 lower-case hexadecimal digits. */
export function formatDigest(raw: Uint8Array): string {
  return `sha256:${Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('hex')}`
}

export function digestOf(data: string | Uint8Array): string {
  return `sha256:${hash('sha256', data, 'hex')}`
}

export function isDigest(text: unknown): text is string {
  return typeof text === 'string' && DIGEST.test(text)
}

/** The 32 bytes of a digest. @throws TypeError when the text has another form. */
export function parseDigest(text: string): Buffer {
  if (!DIGEST.test(text)) throw new TypeError('not a sha256: digest')
  return Buffer.from(text.slice(7), 'hex')
}

/** Compares in constant time; false when the lengths differ. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}

/**
 * Bytes of standard base64 with canonical padding (RFC 4648 section 4 and 3.5), or undefined:
 * decoders disagree on everything else, so two texts could stand for the same bytes.
 */
export function decodeBase64(text: unknown): Buffer | undefined {
  if (typeof text !== 'string') return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
