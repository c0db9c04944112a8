import { sha256 as hash } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'

/** Byte functions of src/base/bytes.ts for browsers. */

type Parts = readonly (string | Uint8Array)[]

export function sha256(...parts: Parts): Uint8Array {
  const hasher = hash.create()
  for (const part of parts) hasher.update(typeof part === 'string' ? utf8(part) : part)
  return hasher.digest()
}

export function sha256Hex(...parts: Parts): string {
  return bytesToHex(sha256(...parts))
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.byteLength !== b.byteLength) return false
  let difference = 0
  for (const [i, byte] of a.entries()) difference |= byte ^ (b[i] ?? 0)
  return difference === 0
}

export const encodeHex: (bytes: Uint8Array) => string = bytesToHex
export const decodeHex: (text: string) => Uint8Array = hexToBytes

/** Bytes converted in one call; texts here have at most some megabytes. */
const CHUNK = 8192

export function encodeBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.byteLength; at += CHUNK) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(binary)
}

export function decodeBase64(text: unknown): Uint8Array | undefined {
  if (typeof text !== 'string') return undefined
  try {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
    return encodeBase64(bytes) === text ? bytes : undefined
  } catch {
    // The text is not base64.
    return undefined
  }
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
