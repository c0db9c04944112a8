import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import { type Checkpoint, checkpointText } from '../../audit/checkpoint.ts'
import { SERVICE } from '../../audit/draft.ts'
import { type SealKey, sealKeyOf } from '../../audit/seal.ts'
import { utf8 } from '../../base/bytes.ts'
import { digestOf } from '../../base/digest.ts'
import { GateError } from '../../base/errors.ts'
import { DAY_MS, formatTimestamp } from '../../base/time.ts'
import { formatNote, type NoteKey } from '../../evidence/note.ts'
import { canSign, publicKeyOf, seedOf, signatureOf, signStatement } from '../../evidence/signature.ts'
import { type Certificate, logKeysFor, type Rotation, type Trust } from '../../evidence/trust.ts'
import { creation, logKeyInUse, type SigningKey } from '../../store/records.ts'
import type { SealKeys, Store } from '../../store/store.ts'
import type { Guard } from '../../store/submission.ts'
import { type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import { rotationsOf } from './trust.ts'

/** Lifetime of a bundle key and of its certificate. The key stays in memory and ends with the process. */
const BUNDLE_KEY_MS = DAY_MS

/** The storage of the private log key. */
export interface KeyFile {
  read(): KeyObject | undefined
  create(): KeyObject
  /**
   * Makes the successor of the key in use, in its own file beside it, named by its id: two simultaneous ones do not
   * collide.
   */
  createNext(): KeyObject
  readNext(id: string): KeyObject | undefined
  /** Replaces the key in use by that successor, unless this has been done. */
  promoteNext(id: string): void
  /** Removes a successor that is not used after all. */
  removeNext(id: string): void
}

/** The available key differs from the one that signs this instance's checkpoints. */
export class WrongSigningKey extends Error {
  override readonly name = 'WrongSigningKey'
}

export interface PrivateKey {
  id: string
  publicKey: string
  privateKey: KeyObject
}

interface BundleKey extends PrivateKey {
  certificate: Certificate
}

/** The keys with which this process signs. */
export interface Keyring {
  /** The log key in use. @throws GateError `audit_unavailable` when its file is not at hand */
  logKey(): Promise<PrivateKey>
  /** Made and recorded at the first use, and again after its lifetime. */
  bundleKey(): Promise<BundleKey>
}

/**
 * Opens the keys. The first start makes the log key; from then on the audit chain names it.
 *
 * @throws WrongSigningKey when the chain names another key, or the key's file is gone
 */
export async function openKeyring(deps: Deps, file: KeyFile): Promise<Keyring> {
  let log = await ensureLogKey(deps, file)
  let bundle: BundleKey | undefined
  let making: Promise<BundleKey> | undefined
  const inHand = (): PrivateKey | undefined => {
    const inUse = keyInUse(deps.store)
    // Another process has rotated it.
    return inUse === undefined || inUse.id === log.id ? log : keyOf(file, inUse)
  }
  const logKey = async (): Promise<PrivateKey> => {
    const known = inHand()
    // The file belongs to a rotation that has not been read yet.
    if (known === undefined) await deps.store.refresh()
    log = known ?? inHand() ?? missingKey()
    return log
  }
  /** A rotated log key may be revoked next, and its certificates with it. */
  const isUsable = async ({ id, certificate }: BundleKey): Promise<boolean> => {
    const now = formatTimestamp(deps.clock())
    const { notBefore, notAfter } = certificate.statement
    const isInForce = deps.store.state().signingKeys.get(id)?.revokedAt === null && notBefore <= now && now < notAfter
    return isInForce && certificate.signedBy === (await logKey()).publicKey
  }
  return {
    logKey,
    async bundleKey() {
      if (bundle !== undefined && (await isUsable(bundle))) return bundle
      // Simultaneous callers share the same key.
      making ??= makeBundleKey(deps, logKey).finally(() => {
        making = undefined
      })
      bundle = await making
      return bundle
    },
  }
}

function missingKey(): never {
  throw new GateError(
    'audit_unavailable',
    'The log key was rotated, and its file is not in place yet; nothing was signed.',
  )
}

/** The record of the log key that is in use. */
export function keyInUse(store: Store): SigningKey | undefined {
  return logKeyInUse(store.state().signingKeys.values())
}

/** The name under which the log key signs notes. */
export function noteKey({ origin }: Store, { publicKey }: Pick<PrivateKey, 'publicKey'>): NoteKey {
  return { name: origin, publicKey }
}

/** A checkpoint of a chain as a note that the log key has signed. */
export function signedCheckpoint(store: Store, key: PrivateKey, tree: Omit<Checkpoint, 'origin'>): string {
  const text = checkpointText({ origin: store.origin, ...tree })
  return formatNote(text, noteKey(store, key), signatureOf(utf8(text), key.privateKey))
}

export async function ensureLogKey(deps: Deps, file: KeyFile): Promise<PrivateKey> {
  const recorded = keyInUse(deps.store)
  if (recorded === undefined) return recordLogKey(deps, file.read() ?? file.create())
  assertOneLine(deps.store, recorded)
  const key = keyOf(file, recorded)
  if (key !== undefined) return key
  throw new WrongSigningKey(
    file.read() === undefined
      ? 'The signing key is missing, though evidence was signed with it. Restore its file; a new key cannot replace it.'
      : 'The signing key is not the one that the audit chain names. Restore the right file, or set signingKey to it.',
  )
}

/** The private half of the recorded key. A successor that a power failure left beside its place is moved there. */
function keyOf(file: KeyFile, { id }: SigningKey): PrivateKey | undefined {
  const found = file.read()
  const key = found && tested(found)
  if (key?.id === id) return key
  const successor = file.readNext(id)
  const next = successor && tested(successor)
  if (next?.id !== id) return undefined
  file.promoteNext(id)
  return next
}

export function tested(privateKey: KeyObject): PrivateKey {
  if (!canSign(privateKey)) throw new WrongSigningKey('The signing key does not verify what it signs.')
  const publicKey = publicKeyOf(privateKey)
  return { id: idOf(publicKey), publicKey, privateKey }
}

/** The secret of the seals under the log key in use. @throws GateError `audit_unavailable` when the key is not at hand */
export function sealSecret(store: Store, sealKeys: SealKeys): Uint8Array {
  const key = sealKeys(keyInUse(store)?.id)
  return key?.secret ?? missingKey()
}

export function sealKeyFrom(privateKey: KeyObject): SealKey {
  return sealKeyOf(idOf(publicKeyOf(privateKey)), seedOf(privateKey))
}

/** @param publicKey base64 of 32 bytes */
export function idOf(publicKey: string): string {
  return digestOf(Buffer.from(publicKey, 'base64'))
}

/**
 * Refuses a log key that does not succeed the recorded ones: an attacker who rewrites the chain cannot sign that
 * succession.
 */
function assertOneLine(store: Store, { publicKey }: SigningKey): void {
  const { origin } = store
  const trust: Trust = { logKeys: [{ name: origin, publicKey, until: null }], revoked: new Map() }
  const { keys } = logKeysFor(trust, { origin, rotations: rotationsOf(store), signedBy: publicKey })
  const stranger = [...store.state().signingKeys.values()].find(
    (key) => key.purpose === 'log' && !keys.some((known) => known.publicKey === key.publicKey),
  )
  if (stranger !== undefined)
    throw new WrongSigningKey(`The log key in use does not succeed log key ${stranger.id} of the audit chain.`)
}

export function logKeyRecord(deps: Deps, { id, publicKey }: PrivateKey, rotation: Rotation | null): SigningKey {
  const createdAt = rotation?.statement.at ?? formatTimestamp(deps.clock())
  return { ...NEW_KEY, id, purpose: 'log', publicKey, createdAt, retiredAt: null, rotation }
}

const NEW_KEY = { revision: 1, algorithm: 'ed25519', revokedAt: null, certificate: null, rotation: null } as const

/** Makes a bundle key, certified by the log key in use at its recording. */
function makeBundleKey(deps: Deps, logKey: () => Promise<PrivateKey>): Promise<BundleKey> {
  const key = tested(generateKeyPairSync('ed25519').privateKey)
  return decideAndCommit(deps.store, async () => {
    const log = await logKey()
    const certificate = certify(deps, key, log)
    const { notBefore: createdAt, notAfter: retiredAt } = certificate.statement
    const { id, publicKey } = key
    const made = { ...NEW_KEY, id, purpose: 'bundle', publicKey, createdAt, retiredAt, certificate } as const
    const { write, data } = creation('signingKey', made)
    const entry = eventEntry(deps, SYSTEM_CHAIN, 'key.created', data, SERVICE)
    const guards: Guard[] = [{ kind: 'logKeyInUse', id: log.id }]
    return { submission: { guards, writes: [write], entries: [entry] }, reply: () => ({ ...key, certificate }) }
  })
}

function certify({ clock, store }: Deps, { publicKey }: PrivateKey, log: PrivateKey): Certificate {
  const nowMs = clock()
  const statement: Certificate['statement'] = {
    origin: store.origin,
    purpose: 'bundle',
    publicKey,
    notBefore: formatTimestamp(nowMs),
    notAfter: formatTimestamp(nowMs + BUNDLE_KEY_MS),
  }
  return { statement, signedBy: log.publicKey, signature: signStatement('certificate', statement, log.privateKey) }
}

/** Records the log key. Two services that start at once record it once: its id follows from the key. */
async function recordLogKey(deps: Deps, privateKey: KeyObject): Promise<PrivateKey> {
  const key = tested(privateKey)
  return decideAndCommit(deps.store, async () => {
    if (deps.store.state().signingKeys.has(key.id)) return { submission: null, reply: () => key }
    const { write, data } = creation('signingKey', logKeyRecord(deps, key, null))
    const entry = eventEntry(deps, SYSTEM_CHAIN, 'key.created', data, SERVICE)
    return { submission: { guards: [], writes: [write], entries: [entry] }, reply: () => key }
  })
}
