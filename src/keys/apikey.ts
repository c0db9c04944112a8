import { crc32 } from 'node:zlib'
import { chainOf, SYSTEM_CHAIN } from '../audit/chain.ts'
import { digestOf } from '../base/digest.ts'
import type { Environment } from '../base/environment.ts'
import { isAdmin, type Role } from './roles.ts'

/** A stored key. The secret itself is shown once at creation and never stored. */
export type ApiKey = {
  id: string
  revision: number
  /** SHA-256 of the secret's text. The secret has 256 random bits, so the hash needs no salt. */
  hash: string
  /** null for admin keys, which name a tenant on each request. */
  tenantId: string | null
  environment: Environment
  roles: readonly Role[]
  /** Holder of the key; approvals by keys of one identity count once. */
  identity: string | null
  groups: readonly string[]
  name: string | null
  createdAt: string
  /**
   * `host:<uid>` for the command line, else the id of the creating key. A replacement keeps its predecessor's value.
   */
  createdBy: string
  expiresAt: string | null
  revokedAt: string | null
  /** The first key of the line, of which this key is a later secret. Only replacements have it. */
  rotatedFrom?: string
  /**
   * The key of another line that had this secret made over HTTP, and so knows it as a creator does. Replacements keep
   * it, unless yet another key had them made.
   */
  rotatedBy?: string
  /** The replacement of this key. Only rotated keys have it. */
  replacedBy?: string
}

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

export function isActive(key: ApiKey, nowMs: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || nowMs < Date.parse(key.expiresAt))
}

/** The first key of the line: approvals treat a rotated key and its replacements as one key. */
export function lineOf(key: ApiKey): string {
  return key.rotatedFrom ?? key.id
}

/** The principal of this key in approvals: its identity, else its line, which rotation does not change. */
export function principalOf(key: ApiKey): string {
  return key.identity ?? lineOf(key)
}

/** The chain that records changes of a key. */
export function chainOfKey({ roles, tenantId, environment }: ApiKey): string {
  return isAdmin(roles) || tenantId === null ? SYSTEM_CHAIN : chainOf(tenantId, environment)
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
