import { type Checkpoint, parseCheckpoint } from '../audit/checkpoint.ts'
import { GateError } from '../base/errors.ts'
import { parseJson } from '../base/json.ts'
import { parseTimestamp } from '../base/time.ts'
import { verifySignature } from './ed25519.ts'
import { Base64Of32, Origin, Signature, Time } from './fields.ts'
import { type Note, type NoteKey, parseNote, parseVkey, signersOf, type Verify, vkeyOf } from './note.ts'
import { list, literal, object, orNull, type TypeOf, text } from './shape.ts'
import { isSignedBy } from './statement.ts'
import { UnusableTrust } from './unusable-trust.ts'

/** The log key vouches for a bundle key, for a time. */
export const Certificate = object({
  statement: object({
    origin: Origin,
    purpose: literal('bundle'),
    publicKey: Base64Of32,
    notBefore: Time,
    notAfter: Time,
  }),
  signedBy: Base64Of32,
  signature: Signature,
})
export type Certificate = TypeOf<typeof Certificate>

/** One log key followed another, and each says so. */
export const Rotation = object({
  statement: object({ origin: Origin, from: Base64Of32, to: Base64Of32, at: Time }),
  signatures: object({ from: Signature, to: Signature }),
})
export type Rotation = TypeOf<typeof Rotation>

const TrustFile = object({
  v: literal(1),
  logKeys: list(object({ vkey: text({ maxLength: 256 }), until: orNull(Time) }), { max: 1024 }),
  revoked: list(object({ publicKey: Base64Of32, since: Time }), { max: 1024 }),
})
export type TrustFile = TypeOf<typeof TrustFile>

export interface LogKey extends NoteKey {
  /** From this time on it was no longer used; null for one in use. */
  until: string | null
}

/** What the verifier holds true before it reads any evidence. */
export interface Trust {
  logKeys: readonly LogKey[]
  /** Public key to the time from which somebody else may hold it. */
  revoked: ReadonlyMap<string, string>
}

export const NO_TRUST: Trust = { logKeys: [], revoked: new Map() }

/** @throws UnusableTrust when the text is no trust file, has no real times, or pins a key that some verifier would refuse */
export function readTrust(input: Uint8Array | string): Trust {
  const file = parsed(input)
  const logKeys = file.logKeys.map(({ vkey, until }) => {
    const key = parseVkey(vkey)
    if (key === undefined) throw new UnusableTrust(`${vkey} is not the vkey of a log key.`)
    return { ...key, until }
  })
  const times = [...logKeys.map(({ until }) => until), ...file.revoked.map(({ since }) => since)]
  const unreal = times.find((time) => time !== null && parseTimestamp(time) === undefined)
  if (unreal !== undefined) throw new UnusableTrust(`${unreal} is no real time.`)
  return { logKeys, revoked: new Map(file.revoked.map(({ publicKey, since }) => [publicKey, since])) }
}

function parsed(input: Uint8Array | string): TrustFile {
  try {
    const value: unknown = parseJson(input, { maxDepth: 8 })
    const fault = TrustFile.fault(value, '')
    if (fault !== undefined) throw new UnusableTrust(`This is not a trust file: ${fault}.`)
    return value as TrustFile // as the check says
  } catch (cause) {
    if (cause instanceof GateError) throw new UnusableTrust(`This is not a trust file: ${cause.message}`, { cause })
    throw cause
  }
}

/** The file that `readTrust` reads. */
export function trustFile({ logKeys, revoked }: Trust): TrustFile {
  return {
    v: 1,
    logKeys: logKeys.map((key) => ({ vkey: vkeyOf(key), until: key.until })),
    revoked: Array.from(revoked, ([publicKey, since]) => ({ publicKey, since })),
  }
}

/** The log keys that evidence is held to, and whether somebody pinned them. */
export interface LogKeys {
  keys: readonly LogKey[]
  isPinned: boolean
}

interface Vouchers {
  origin: string
  /** The log key of the certificate. */
  signedBy: string
  rotations: readonly Rotation[]
}

/**
 * The log keys for evidence of this origin: the pinned ones, and those to which the rotations lead from them (docs/evidence.md, The
 * trust file). Without a pinned one, those that the evidence names itself, which prove nothing about who made it.
 */
export function logKeysFor(trust: Trust, { origin, signedBy, rotations }: Vouchers): LogKeys {
  const genuine = rotations.filter((rotation) => isGenuineRotation(origin, rotation))
  const known = new Map(trust.logKeys.filter(({ name }) => name === origin).map((key) => [key.publicKey, key]))
  if (known.size === 0) {
    const named = [signedBy, ...genuine.flatMap(({ statement }) => [statement.from, statement.to])]
    return { keys: [...new Set(named)].map((publicKey) => ({ name: origin, publicKey, until: null })), isPinned: false }
  }
  for (let before = -1; before !== known.size; ) {
    before = known.size
    for (const { statement } of genuine) extend(known, trust.revoked, statement)
  }
  return { keys: [...known.values()], isPinned: true }
}

function extend(
  known: Map<string, LogKey>,
  revoked: Trust['revoked'],
  { origin, from, to, at }: Rotation['statement'],
) {
  const [older, newer] = [known.get(from), known.get(to)]
  if (older !== undefined && newer === undefined && older.until === null && !revoked.has(from)) {
    known.set(from, { ...older, until: at })
    known.set(to, { name: origin, publicKey: to, until: null })
  } else if (newer !== undefined && older === undefined && !revoked.has(to) && at <= (newer.until ?? at)) {
    known.set(from, { name: origin, publicKey: from, until: at })
  }
}

/** True when both keys have signed that one follows the other. */
export function isGenuineRotation(origin: string, { statement, signatures }: Rotation): boolean {
  return (
    statement.origin === origin &&
    parseTimestamp(statement.at) !== undefined &&
    isSignedBy(statement.from, 'rotation', statement, signatures.from) &&
    isSignedBy(statement.to, 'rotation', statement, signatures.to)
  )
}

/** A checkpoint that one of these keys has signed. */
export interface SignedCheckpoint extends Checkpoint {
  key: LogKey
}

/** Undefined for what is no checkpoint, is of another instance, or is signed by none of the keys. */
export function openCheckpoint(
  note: string,
  keys: readonly LogKey[],
  verify: Verify = verifySignature,
): SignedCheckpoint | undefined {
  const parsedNote: Note | undefined = parseNote(note)
  const checkpoint = parsedNote && parseCheckpoint(parsedNote.text)
  if (parsedNote === undefined || checkpoint === undefined) return undefined
  const [key] = signersOf(
    parsedNote,
    keys.filter(({ name }) => name === checkpoint.origin),
    verify,
  )
  return key && { ...checkpoint, key }
}
