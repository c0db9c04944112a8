import { crc32 } from 'node:zlib'
import { digestOf } from '../base/digest.ts'
import type { Environment } from '../base/environment.ts'

export const SECRET_BYTES = 32
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BODY_DIGITS = 43
const CHECK_DIGITS = 6
const SECRET = /^sk_(live|test)_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/** `sk_live_` or `sk_test_`, 256 bits in base62, and a CRC-32 by which scanners recognise a key and typos show. */
export function formatSecret(environment: Environment, random: Uint8Array): string {
  if (random.byteLength !== SECRET_BYTES) throw new TypeError(`a key needs ${SECRET_BYTES} random bytes`)
  const body = base62(BigInt(`0x${Buffer.from(random).toString('hex')}`), BODY_DIGITS)
  const text = `sk_${environment}_${body}`
  return text + checksum(text)
}

/** True when the text has the form of a key and its checksum; the key may not exist. */
export function isSecret(text: string): boolean {
  const match = SECRET.exec(text)
  return match !== null && checksum(text.slice(0, -CHECK_DIGITS)) === match[3]
}

export function hashSecret(secret: string): string {
  return digestOf(secret)
}

/** Six base62 digits of the CRC-32; in plain numbers for speed, since every request's key is checked. */
function checksum(text: string): string {
  let digits = ''
  for (let rest = crc32(text), i = 0; i < CHECK_DIGITS; i += 1) {
    digits = (BASE62[rest % 62] ?? '') + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

function base62(value: bigint, digits: number): string {
  let text = ''
  for (let rest = value, i = 0; i < digits; i += 1) {
    text = (BASE62[Number(rest % 62n)] ?? '') + text
    rest /= 62n
  }
  return text
}
