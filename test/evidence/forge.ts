import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { type Checkpoint, checkpointText, parseCheckpoint } from '../../src/audit/checkpoint.ts'
import { commitment } from '../../src/audit/entry.ts'
import { inclusionPath, leafHash, nodeHash } from '../../src/audit/merkle.ts'
import { decodeBase64, encodeBase64, sha256, utf8 } from '../../src/base/bytes.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { parseDigest } from '../../src/base/digest.ts'
import type { JsonObject } from '../../src/base/json.ts'
import type { Bundle } from '../../src/evidence/bundle.ts'
import { formatNote, parseNote } from '../../src/evidence/note.ts'
import { entryHash } from '../../src/evidence/segment.ts'
import { publicKeyOf, signatureOf, signStatement } from '../../src/evidence/signature.ts'
import type { Certificate, LogKey, Rotation } from '../../src/evidence/trust.ts'
import { type HashAt, rootOf } from '../audit/root-of.ts'

/** Forgeries of evidence by a holder of private keys. */

export function aPrivateKey(): KeyObject {
  return generateKeyPairSync('ed25519').privateKey
}

/** As it stands in a trust file. */
export function pin(name: string, privateKey: KeyObject, until: string | null = null): LogKey {
  return { name, publicKey: publicKeyOf(privateKey), until }
}

export function signCheckpoint(checkpoint: Checkpoint, logKey: KeyObject, name = checkpoint.origin): string {
  const text = checkpointText(checkpoint)
  return formatNote(text, { name, publicKey: publicKeyOf(logKey) }, signatureOf(utf8(text), logKey))
}

/** Returns the checkpoint of a bundle, unverified. */
export function checkpointOf({ proof }: Bundle): Checkpoint {
  const checkpoint = parseCheckpoint(parseNote(proof.checkpoint)?.text ?? '')
  if (checkpoint === undefined) throw new Error('the bundle has no checkpoint')
  return checkpoint
}

/** A tree of this size that has these entries, by their seq, in their places, and others everywhere else. */
function treeWith(hashes: ReadonlyMap<number, string>, size: number) {
  const hashAt: HashAt = ({ level, index }) => {
    const isAside = [...hashes.keys()].every((seq) => seq < index * 2 ** level || seq >= (index + 1) * 2 ** level)
    if (isAside) return sha256(`${level} ${index}`)
    if (level === 0) return leafHash(parseDigest(hashes.get(index) ?? ''))
    return nodeHash(hashAt({ level: level - 1, index: 2 * index }), hashAt({ level: level - 1, index: 2 * index + 1 }))
  }
  const inclusionOf = (seq: number): string[] =>
    inclusionPath(seq, size).map((range) => encodeBase64(rootOf(range, hashAt)))
  return { root: rootOf({ begin: 0, end: size }, hashAt), inclusionOf }
}

function decidedIn({ auditChain, proof }: Bundle): [seq: number, hash: string] {
  const [item, header] = [auditChain.at(-1), proof.entries.at(-1)]
  if (item === undefined || header === undefined) throw new Error('the bundle has no entries')
  return [header.seq, item.hash]
}

/** A tree of this size that has the decision in its place, and other entries everywhere else. */
export function treeAround(bundle: Bundle, size: number) {
  const [seq, hash] = decidedIn(bundle)
  const { root, inclusionOf } = treeWith(new Map([[seq, hash]]), size)
  return { root, inclusion: inclusionOf(seq) }
}

type Changed = (changes: JsonObject, i: number) => JsonObject

/** The entries with other changes in their data, as if they had been recorded so. */
function recordedAs(entries: Bundle['proof']['approval'], change: Changed) {
  return entries.map((entry, i) => {
    const data = { ...entry.data, changes: change(entry.data.changes as JsonObject, i) }
    const salt = decodeBase64(entry.salt) ?? new Uint8Array()
    const commits = { ...entry.header.commits, data: commitment({ name: 'data', salt, json: canonicalJson(data) }) }
    return { ...entry, data, header: { ...entry.header, commits } }
  })
}

/**
 * The bundle with entries of the approval and of the keys behind it that say something else, in a tree and under a
 * checkpoint that have them so.
 */
export function withApproval(
  bundle: Bundle,
  change: Changed,
  logKey: KeyObject,
  keysOf: (keys: Bundle['proof']['keys']) => Bundle['proof']['keys'] = (keys) => keys,
): Bundle {
  const approval = recordedAs(bundle.proof.approval, change)
  const keys = keysOf(bundle.proof.keys)
  const [seq, hash] = decidedIn(bundle)
  const shown = [...approval, ...keys].map(({ header }) => [header.seq, entryHash(header)] as const)
  const tree = treeWith(new Map([[seq, hash], ...shown]), checkpointOf(bundle).size)
  const placed = (entries: Bundle['proof']['keys']): Bundle['proof']['keys'] =>
    entries.map((entry) => ({ ...entry, inclusion: tree.inclusionOf(entry.header.seq) }))
  const checkpoint = signCheckpoint({ ...checkpointOf(bundle), root: tree.root }, logKey)
  const proof = { ...bundle.proof, approval: placed(approval), keys: placed(keys), checkpoint }
  return { ...bundle, proof: { ...proof, inclusion: tree.inclusionOf(seq) } }
}

/** The keys with other members. */
export function keysAs(change: Changed) {
  return (keys: Bundle['proof']['keys']): Bundle['proof']['keys'] => recordedAs(keys, change)
}

export function certify(statement: Certificate['statement'], logKey: KeyObject): Certificate {
  const signature = signStatement('certificate', statement, logKey)
  return { statement, signedBy: publicKeyOf(logKey), signature }
}

/** @param at when `to` followed `from` */
export function rotate(origin: string, [from, to]: [from: KeyObject, to: KeyObject], at: string): Rotation {
  const statement = { origin, from: publicKeyOf(from), to: publicKeyOf(to), at }
  return {
    statement,
    signatures: { from: signStatement('rotation', statement, from), to: signStatement('rotation', statement, to) },
  }
}

/** The bundle as it is, signed with this key. */
export function signBundle({ signatures: _, ...unsigned }: Bundle, bundleKey: KeyObject): Bundle {
  const signature = signStatement('bundle', unsigned, bundleKey)
  return {
    ...unsigned,
    signatures: { service: { algorithm: 'ed25519', publicKey: publicKeyOf(bundleKey), signature } },
  }
}

/** The bundle under a bundle key of one's own, certified by this log key for all of 2026 and longer. */
export function certified(
  bundle: Bundle,
  logKey: KeyObject,
  statement: Partial<Certificate['statement']> = {},
  bundleKey: KeyObject = THEIRS,
): Bundle {
  const whole = {
    origin: bundle.proof.origin,
    purpose: 'bundle' as const,
    publicKey: publicKeyOf(bundleKey),
    notBefore: '2020-01-01T00:00:00.000Z',
    notAfter: '2099-01-01T00:00:00.000Z',
    ...statement,
  }
  return signBundle({ ...bundle, proof: { ...bundle.proof, certificate: certify(whole, logKey) } }, bundleKey)
}

const THEIRS = aPrivateKey()

/** The bundle with everything that a log key signs signed by this one. */
export function underLogKey(bundle: Bundle, logKey: KeyObject, rotations: readonly Rotation[] = []): Bundle {
  const checkpoint = signCheckpoint(checkpointOf(bundle), logKey)
  return certified({ ...bundle, proof: { ...bundle.proof, checkpoint, rotations: [...rotations] } }, logKey)
}
