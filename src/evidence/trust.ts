import type { Checkpoint } from '../audit/checkpoint.ts'
import { GateError } from '../base/errors.ts'
import { parseJson } from '../base/json.ts'
import { memo } from '../base/memo.ts'
import { verifySignature } from './ed25519.ts'
import { Base64Of32, Origin, Signature, Time } from './fields.ts'
import { type Note, type NoteKey, parseCheckpointNote, parseVkey, signersOf, type Verify, vkeyOf } from './note.ts'
import { list, literal, object, orNull, type TypeOf, text, unique } from './shape.ts'
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

/** Log keys of a trust file, and how often they follow one another. */
const MAX_KEYS = 1024
export const Rotations = unique(list(Rotation, { max: MAX_KEYS }))

const TrustFile = object({
  v: literal(1),
  logKeys: list(object({ vkey: text({ maxLength: 256 }), until: orNull(Time) }), { max: MAX_KEYS }),
  revoked: list(object({ publicKey: Base64Of32, since: Time }), { max: MAX_KEYS }),
})
export type TrustFile = TypeOf<typeof TrustFile>

export interface LogKey extends NoteKey {
  /** Time of its last use; null for the key in use. */
  until: string | null
}

/** The verifier's trust, established before it reads any evidence. */
export interface Trust {
  logKeys: readonly LogKey[]
  /** Revoked public keys, each with the time from which it counts as compromised. */
  revoked: ReadonlyMap<string, string>
}

export const NO_TRUST: Trust = { logKeys: [], revoked: new Map() }

/**
 * @throws UnusableTrust when the text is not a trust file, names a key twice, or pins one that some verifier would
 * refuse
 */
export function readTrust(input: Uint8Array | string): Trust {
  const file = parsed(input)
  const logKeys = file.logKeys.map(({ vkey, until }) => {
    const key = parseVkey(vkey)
    if (key === undefined) throw new UnusableTrust(`${vkey} is not the vkey of a log key.`)
    return { ...key, until }
  })
  assertNoneTwice(logKeys.map((key) => vkeyOf(key)))
  assertNoneTwice(file.revoked.map(({ publicKey }) => publicKey))
  return { logKeys, revoked: new Map(file.revoked.map(({ publicKey, since }) => [publicKey, since])) }
}

function assertNoneTwice(keys: readonly string[]): void {
  const twice = keys.find((key, i) => keys.indexOf(key) !== i)
  if (twice !== undefined) throw new UnusableTrust(`${twice} occurs twice.`)
}

function parsed(input: Uint8Array | string): TrustFile {
  try {
    const value: unknown = parseJson(input, { maxDepth: 8, rounds: true })
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

/** The log keys that evidence is verified against, and whether they are pinned. */
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
 * The log keys for evidence of this origin: the pinned ones and their successors by rotation (docs/evidence.md, The
 * trust file). Without a pinned key, the evidence's own, which prove nothing about its maker.
 */
export function logKeysFor(trust: Trust, { origin, signedBy, rotations }: Vouchers): LogKeys {
  const own = rotations.filter(({ statement }) => statement.origin === origin)
  const known = new Map(trust.logKeys.filter(({ name }) => name === origin).map((key) => [key.publicKey, key]))
  if (known.size === 0) {
    const named = [signedBy, ...own.flatMap(({ statement }) => [statement.from, statement.to])]
    return { keys: [...new Set(named)].map((publicKey) => ({ name: origin, publicKey, until: null })), isPinned: false }
  }
  const isGenuine = memo((rotation: Rotation) => isGenuineRotation(origin, rotation))
  for (let before = -1; before !== known.size; ) {
    before = known.size
    // Verifying takes milliseconds, and evidence may bring a thousand rotations: only those that extend the known keys
    // are verified.
    for (const rotation of own) extend(known, trust.revoked, rotation.statement, () => isGenuine(rotation))
  }
  return { keys: [...known.values()], isPinned: true }
}

function extend(
  known: Map<string, LogKey>,
  revoked: Trust['revoked'],
  { origin, from, to, at }: Rotation['statement'],
  isGenuine: () => boolean,
): void {
  const [older, newer] = [known.get(from), known.get(to)]
  const isNext = older !== undefined && newer === undefined && older.until === null && !revoked.has(from)
  const isEarlier = newer !== undefined && older === undefined && !revoked.has(to) && at <= (newer.until ?? at)
  if (!(isNext || isEarlier) || !isGenuine()) return
  known.set(from, { ...older, name: origin, publicKey: from, until: at })
  if (isNext) known.set(to, { name: origin, publicKey: to, until: null })
}

/** True when both keys signed the succession. */
function isGenuineRotation(origin: string, { statement, signatures }: Rotation): boolean {
  return (
    statement.origin === origin &&
    isSignedBy(statement.from, 'rotation', statement, signatures.from) &&
    isSignedBy(statement.to, 'rotation', statement, signatures.to)
  )
}

/** The trusted log key of this origin that signed the note; of several, that of the first line. */
export function signerOf(
  note: Note & Checkpoint,
  origin: string,
  keys: readonly LogKey[],
  verify: Verify = verifySignature,
): LogKey | undefined {
  if (note.origin !== origin) return undefined
  return signersOf(
    note,
    keys.filter(({ name }) => name === origin),
    verify,
  )[0]
}

/** A checkpoint that one of these keys has signed. */
export interface SignedCheckpoint extends Checkpoint {
  key: LogKey
}

/** Opens a signed checkpoint; undefined for other texts, and without a signature by one of the keys. */
export function openCheckpoint(
  text: string,
  keys: readonly LogKey[],
  verify: Verify = verifySignature,
): SignedCheckpoint | undefined {
  const note = parseCheckpointNote(text)
  const key = note && signerOf(note, note.origin, keys, verify)
  if (note === undefined || key === undefined) return undefined
  const { origin, chain, size, root } = note
  return { origin, chain, size, root, key }
}
