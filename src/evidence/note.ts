import { type Checkpoint, parseCheckpoint } from '../audit/checkpoint.ts'
import { decodeBase64, decodeHex, encodeBase64, encodeHex, sha256, utf8 } from '../base/bytes.ts'
import { TENANT_PATTERN } from '../keys/tenant.ts'
import { isStrongKey } from './ed25519-strict.ts'

/** A public key with the name under which it signs notes (C2SP signed-note). */
export interface NoteKey {
  name: string
  /** Base64 of 32 bytes. */
  publicKey: string
}

interface NoteSignature {
  name: string
  /** Key id in eight hexadecimal digits. */
  keyId: string
  /** Base64 of the rest. */
  signature: string
}

export interface Note {
  /** The signed text, with its last line feed. */
  text: string
  signatures: readonly NoteSignature[]
}

/** The type of an Ed25519 signature over the text of a note. */
const ED25519 = Uint8Array.of(0x01)
const ID_BYTES = 4
export const MAX_NOTE_BYTES = 16_384
const MAX_SIGNATURES = 16
/** An instance's origin: neither space nor plus, which would end it in a note or a vkey, nor `/`, which ends it in a checkpoint. */
export const ORIGIN = /^[a-z0-9.-]{1,64}$/
/** A chain of the service itself, or of a tenant and environment, or a lane of that. */
export const CHAIN = new RegExp(`^(?:_system|${TENANT_PATTERN.slice(1, -1)}/(?:live|test)(?:~[1-9][0-9]{0,6})?)$`)
const VKEY = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/

export function keyIdOf({ name, publicKey }: NoteKey): string {
  return encodeHex(sha256(`${name}\n`, ED25519, bytesOf(publicKey)).subarray(0, ID_BYTES))
}

/** The key in the form in which others pin it (vkey). */
export function vkeyOf(key: NoteKey): string {
  return `${key.name}+${keyIdOf(key)}+${encodeBase64(joined(ED25519, bytesOf(key.publicKey)))}`
}

/**
 * Parses a vkey; undefined without an Ed25519 key, with another key id, or for a key that some verifier would refuse.
 */
export function parseVkey(text: string): NoteKey | undefined {
  const [, name = '', keyId, encoded] = VKEY.exec(text) ?? []
  const bytes = decodeBase64(encoded)
  if (!ORIGIN.test(name) || bytes?.byteLength !== 33 || bytes[0] !== ED25519[0]) return undefined
  const key = { name, publicKey: encodeBase64(bytes.subarray(1)) }
  return keyIdOf(key) === keyId && isStrongKey(bytes.subarray(1)) ? key : undefined
}

/** The note with one signature, which is over `text`. @param signature base64 of 64 bytes */
export function formatNote(text: string, key: NoteKey, signature: string): string {
  return `${text}\n— ${key.name} ${encodeBase64(joined(decodeHex(keyIdOf(key)), bytesOf(signature)))}\n`
}

/** Parses a signed note, unverified; undefined for any other text. */
export function parseNote(note: string): Note | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be in a note
  if (utf8(note).byteLength > MAX_NOTE_BYTES || /[\u0000-\u0009\u000b-\u001f]/.test(note) || !note.isWellFormed())
    return undefined
  const gap = note.lastIndexOf('\n\n')
  if (gap < 1 || !note.endsWith('\n')) return undefined
  const lines = note.slice(gap + 2, -1).split('\n')
  if (lines.length > MAX_SIGNATURES) return undefined
  const signatures = lines.map(parseSignature)
  if (!signatures.every((signature) => signature !== undefined)) return undefined
  return { text: note.slice(0, gap + 1), signatures }
}

/** A checkpoint with its signatures. */
export interface CheckpointNote extends Note, Checkpoint {}

/** Parses a signed checkpoint, unverified; undefined for any other text (docs/evidence.md, Checkpoints). */
export function parseCheckpointNote(text: string): CheckpointNote | undefined {
  const note = parseNote(text)
  const checkpoint = note && parseCheckpoint(note.text)
  if (note === undefined || checkpoint === undefined) return undefined
  if (!ORIGIN.test(checkpoint.origin) || !CHAIN.test(checkpoint.chain)) return undefined
  return { ...note, ...checkpoint }
}

/** Parses a note whose form was checked before. @throws TypeError for any other */
export function checkpointOf(text: string): CheckpointNote {
  const checkpoint = parseCheckpointNote(text)
  if (checkpoint === undefined) throw new TypeError('not a checkpoint')
  return checkpoint
}

function parseSignature(line: string): NoteSignature | undefined {
  const [, name, encoded] = /^— ([!-*,-~]+) (\S+)$/u.exec(line) ?? []
  const bytes = decodeBase64(encoded)
  if (name === undefined || bytes === undefined || bytes.byteLength <= ID_BYTES) return undefined
  const keyId = encodeHex(bytes.subarray(0, ID_BYTES))
  return { name, keyId, signature: encodeBase64(bytes.subarray(ID_BYTES)) }
}

export type Verify = (message: Uint8Array, publicKey: string, signature: string) => boolean

/** The keys that signed; none when one of them has an invalid signature, as C2SP signed-note requires. */
export function signersOf<K extends NoteKey>({ text, signatures }: Note, keys: readonly K[], verify: Verify): K[] {
  const message = utf8(text)
  const signers: K[] = []
  for (const { name, keyId, signature } of signatures) {
    // Several keys can share a key id of four bytes.
    const named = keys.filter((one) => one.name === name && keyIdOf(one) === keyId)
    const key = named.find(({ publicKey }) => verify(message, publicKey, signature))
    if (key !== undefined) signers.push(key)
    else if (named.length > 0) return []
  }
  return signers
}

function bytesOf(base64: string): Uint8Array {
  const bytes = decodeBase64(base64)
  if (bytes === undefined) throw new TypeError('not base64')
  return bytes
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  return Uint8Array.of(...first, ...second)
}
