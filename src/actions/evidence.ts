import { type Static, Type } from '#typebox'
import { commitment, hashHeader, type StoredEntry } from '../audit/chain.ts'
import { type Checkpoint, parseCheckpoint } from '../audit/checkpoint.ts'
import { type Hash, inclusionPath, isIncluded, leafHash } from '../audit/tree.ts'
import { parseDigest } from '../base/digest.ts'
import { GateError } from '../base/errors.ts'
import { formatTimestamp } from '../base/time.ts'
import { type Bundle, buildBundle, type Placed, type UnsignedBundle } from '../evidence/bundle.ts'
import type { Verification } from '../evidence/checks.ts'
import { bundleOfEnvelope, type Envelope, envelopeOf } from '../evidence/envelope.ts'
import { parseNote } from '../evidence/note.ts'
import { signStatement } from '../evidence/sign.ts'
import { matchesStored, verifyBundle } from '../evidence/verify.ts'
import { AnyJsonObject, TenantIdField } from '../gate/request.ts'
import type { StoredCheckpoint } from '../store.ts'
import { takenUpTo } from './anchors.ts'
import type { Checkpointer } from './checkpoints.ts'
import { decisionEntry } from './decisions.ts'
import type { Deps } from './deps.ts'
import { assertErasedLawfully } from './redactions.ts'
import type { Keyring } from './signing-keys.ts'
import { rotationsOf, trustOf } from './trust.ts'

export const VerifyBundleRequest = Type.Object(
  { tenantId: TenantIdField, bundle: AnyJsonObject },
  { additionalProperties: false, title: 'VerifyBundleRequest' },
)
export type VerifyBundleRequest = Static<typeof VerifyBundleRequest>

export interface EvidenceDeps extends Deps {
  keyring: Keyring
  checkpoints: Checkpointer
}

/**
 * The signed bundle of a decision of this chain, by the decision's id or its entry's. One that no checkpoint covers yet is
 * covered first.
 *
 * @throws GateError `not_found`; `audit_unavailable` when the entry was altered
 */
export async function exportBundle(deps: EvidenceDeps, chain: string, id: string): Promise<Bundle> {
  const { unsigned, publicKey, signature } = await signedBundle(deps, chain, id)
  return { ...unsigned, signatures: { service: { algorithm: 'ed25519', publicKey, signature } } }
}

/** The same signature in an envelope of DSSE. */
export async function exportEnvelope(deps: EvidenceDeps, chain: string, id: string): Promise<Envelope> {
  const { unsigned, publicKey, signature } = await signedBundle(deps, chain, id)
  return envelopeOf('bundle', unsigned, publicKey, signature)
}

async function signedBundle(deps: EvidenceDeps, chain: string, id: string) {
  const { store } = deps
  const entry = await decisionEntry(store, id)
  if (entry === undefined || entry.header.chain !== chain)
    throw new GateError('not_found', 'There is no such decision.')
  const { seq, ts } = entry.header
  const checkpoint = await deps.checkpoints.covering(chain, seq, await takenUpTo(deps.store))
  await assertErasedLawfully(store, entry)
  const approval = await approvalEntries(deps, entry)
  const [decided, ...voted] = await placed(deps, checkpoint, [entry, ...(approval ?? [])])
  if (decided === undefined) throw new TypeError('the decision has no place')
  const key = await deps.keyring.bundleKey()
  const unsigned: UnsignedBundle = buildBundle({
    bundleId: deps.newId('bundle'),
    origin: store.origin,
    // Entries may carry a time ahead of the clock after it went back; the export is not before them.
    exportedAt: [formatTimestamp(deps.clock()), ts].sort().at(-1) ?? ts,
    decided,
    previous: await previousOf(deps, entry),
    approval: approval && voted,
    checkpoint: checkpoint.note,
    certificate: key.certificate,
    rotations: rotationsOf(store),
  })
  return { unsigned, publicKey: key.publicKey, signature: signStatement('bundle', unsigned, key.privateKey) }
}

/** With the path of each to the root of the checkpoint. @throws GateError `audit_unavailable` when one is not what was signed */
async function placed(
  { store }: Deps,
  { chain, size, note }: StoredCheckpoint,
  entries: readonly StoredEntry[],
): Promise<Placed[]> {
  const signed = parseCheckpoint(parseNote(note)?.text ?? '')
  const placed: Placed[] = []
  for (const entry of entries) {
    const inclusion = await store.treeHashes(chain, inclusionPath(entry.header.seq, size))
    if (signed === undefined || !isAsSigned(entry, signed, inclusion)) throw altered(entry.header)
    placed.push({ entry, inclusion })
  }
  return placed
}

function isAsSigned(entry: StoredEntry, signed: Checkpoint, inclusion: readonly Hash[]): boolean {
  const { header, headerText, sections } = entry
  const isCommitted = sections.every((section) => commitment(section) === header.commits[section.name])
  const hash = hashHeader(headerText)
  return isCommitted && hash === entry.hash && isIncluded(leafHash(parseDigest(hash)), header.seq, signed, inclusion)
}

/** The entry before, which the entry has the hash of; undefined where there is none any more. */
async function previousOf({ store }: Deps, { header }: StoredEntry): Promise<StoredEntry | undefined> {
  const previous = header.seq === 0 ? undefined : await store.entryAt(header.chain, header.seq - 1)
  if (previous === undefined) return undefined
  if (previous.hash !== header.prev || hashHeader(previous.headerText) !== previous.hash) throw altered(previous.header)
  return previous
}

function altered({ chain, seq }: { chain: string; seq: number }): GateError {
  return new GateError('audit_unavailable', `Audit chain ${chain}, entry ${seq} was altered; see \`audit verify\`.`)
}

/** The request and the votes of the approval that allowed the action; none without one, undefined when they were erased. */
async function approvalEntries(deps: Deps, decided: StoredEntry): Promise<StoredEntry[] | undefined> {
  const section = (name: string) => JSON.parse(decided.sections.find((one) => one.name === name)?.json ?? '{}')
  const { decidedBy, approvalId } = section('grounds')
  if (decidedBy !== 'approval' || section('decision').decision !== 'allow') return []
  const changes = await deps.store.changesOf('approval', approvalId)
  const cast = changes.filter(
    ({ header }) =>
      header.seq < decided.header.seq && (header.type === 'approval.requested' || header.type === 'approval.approved'),
  )
  return cast.length === 0 ? undefined : cast
}

/** Checks a bundle against this service's keys, and, for a bundle of this instance, against its own audit chain. */
export async function verifyEvidence(deps: EvidenceDeps, request: VerifyBundleRequest): Promise<Verification> {
  const { store } = deps
  const claimed = bundleOfEnvelope(request.bundle)
  const result = verifyBundle(claimed, { trust: trustOf(store), nowMs: deps.clock() })
  if (!result.valid) return result
  const bundle = claimed as Bundle // what is valid has the shape
  const fault = await differenceFromStored(deps, bundle)
  if (fault !== undefined) return refuted(result, fault)
  const isAnchored = await isAnchoredHere(deps, bundle)
  return { ...result, assurance: isAnchored ? 'bracketed' : 'self-asserted' }
}

/** What this service's own trail says otherwise. */
async function differenceFromStored({ store }: Deps, bundle: Bundle): Promise<string | undefined> {
  const [first] = bundle.proof.entries
  const checkpoint = checkpointIn(bundle)
  if (first === undefined || checkpoint === undefined) return 'The bundle has no entries.'
  // What was pruned cannot be compared; its checkpoint was signed before.
  const oldest = (await store.pruned(first.chain))?.size ?? 0
  if (first.seq < oldest) return undefined
  // A valid segment is one chain without gaps.
  const stored = await store.headersFrom(first.chain, first.seq, bundle.proof.entries.length)
  if (!matchesStored(bundle, stored)) return 'The audit chain here holds other entries.'
  const length = (await store.lengths([first.chain])).get(first.chain) ?? 0
  if (length < checkpoint.size) return 'The audit chain here is shorter than the checkpoint says.'
  const [root] = await store.treeHashes(first.chain, [{ begin: 0, end: checkpoint.size }])
  if (root === undefined || Buffer.compare(root, checkpoint.root) !== 0)
    return 'The audit chain here has another tree than the checkpoint says.'
  return undefined
}

async function isAnchoredHere(deps: Deps, bundle: Bundle): Promise<boolean> {
  const checkpoint = checkpointIn(bundle)
  const last = checkpoint && (await deps.store.lastCheckpointUpTo(checkpoint.chain, await takenUpTo(deps.store)))
  return last !== undefined && last.size >= (checkpoint?.size ?? 0)
}

function checkpointIn({ proof }: Bundle) {
  return parseCheckpoint(parseNote(proof.checkpoint)?.text ?? '')
}

function refuted(result: Verification, why: string): Verification {
  const checks = result.checks.map((check) =>
    check.check === 'inclusion' ? { ...check, result: 'failed' as const, why } : check,
  )
  return { ...result, valid: false, chainValid: false, verdict: 'invalid', reasons: [...result.reasons, why], checks }
}
