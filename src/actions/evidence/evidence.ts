import type { Checkpoint } from '../../audit/checkpoint.ts'
import { hashHeader, type StoredEntry } from '../../audit/entry.ts'
import { type Hash, inclusionPath, isIncluded, leafHash } from '../../audit/merkle.ts'
import { contentFault } from '../../audit/verify.ts'
import { parseDigest } from '../../base/digest.ts'
import { GateError } from '../../base/errors.ts'
import { grouped } from '../../base/grouped.ts'
import { formatTimestamp } from '../../base/time.ts'
import { type Bundle, buildBundle, type Placed, type UnsignedBundle } from '../../evidence/bundle.ts'
import { type Envelope, envelopeOf } from '../../evidence/envelope.ts'
import { parseCheckpointNote } from '../../evidence/note.ts'
import { signStatement } from '../../evidence/signature.ts'
import { changeIn } from '../../store/records.ts'
import type { StoredCheckpoint } from '../../store/submission.ts'
import { takenUpTo } from '../anchors/anchors.ts'
import { assertErasedLawfully } from '../audit/redactions.ts'
import { decisionOfTrail } from '../decisions/decisions.ts'
import type { Deps } from '../deps.ts'
import { approvalEntries, approvalKeys } from './approval-entries.ts'
import type { Checkpointer } from './checkpoints.ts'
import type { Keyring } from './signing-keys.ts'
import { rotationsNow } from './trust.ts'

export interface EvidenceDeps extends Deps {
  keyring: Keyring
  checkpoints: Checkpointer
}

/**
 * The signed bundle of a decision of this trail, by the decision's id or its entry's. A decision without a covering
 * checkpoint of its chain is signed first.
 *
 * @throws GateError `not_found`; `audit_unavailable` when the entry was altered
 */
export async function exportBundle(deps: EvidenceDeps, trail: string, id: string): Promise<Bundle> {
  const { unsigned, publicKey, signature } = await signedBundle(deps, trail, id)
  return { ...unsigned, signatures: { service: { algorithm: 'ed25519', publicKey, signature } } }
}

/** The same bundle and signature in a DSSE envelope. */
export async function exportEnvelope(deps: EvidenceDeps, trail: string, id: string): Promise<Envelope> {
  const { unsigned, publicKey, signature } = await signedBundle(deps, trail, id)
  return envelopeOf('bundle', unsigned, publicKey, signature)
}

async function signedBundle(deps: EvidenceDeps, trail: string, id: string) {
  const { store } = deps
  const entry = await decisionOfTrail(store, trail, id)
  const { chain, seq, ts } = entry.header
  const checkpoint = await deps.checkpoints.covering(chain, seq, await takenUpTo(deps.store))
  await assertErasedLawfully(store, entry)
  const approval = await approvalEntries(deps, entry)
  const [decided, ...voted] = await placed(deps, checkpoint, [entry, ...(approval ?? [])])
  const keys = approval && (await placedKeys(deps, checkpoint, approval))
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
    keys: keys?.entries,
    beside: keys?.beside ?? [],
    checkpoint: checkpoint.note,
    certificate: key.certificate,
    rotations: await rotationsNow(store),
  })
  return { unsigned, publicKey: key.publicKey, signature: signStatement('bundle', unsigned, key.privateKey) }
}

/**
 * The entries with their paths to the root of the checkpoint.
 *
 * @throws GateError `audit_unavailable` when one is not what was signed
 */
export async function placed(
  { store }: Deps,
  { chain, size, note }: StoredCheckpoint,
  entries: readonly StoredEntry[],
): Promise<Placed[]> {
  const signed = parseCheckpointNote(note)
  const placed: Placed[] = []
  for (const entry of entries) {
    const inclusion = await store.treeHashes(chain, inclusionPath(entry.header.seq, size))
    if (signed === undefined || !isAsSigned(entry, signed, inclusion)) throw altered(entry.header)
    placed.push({ entry, inclusion })
  }
  return placed
}

function isAsSigned(entry: StoredEntry, signed: Checkpoint, inclusion: readonly Hash[]): boolean {
  const { header, headerText } = entry
  const hash = hashHeader(headerText)
  // The erasure of missing sections is checked separately.
  const isCommitted = contentFault(entry, () => true) === undefined
  return isCommitted && hash === entry.hash && isIncluded(leafHash(parseDigest(hash)), header.seq, signed, inclusion)
}

/** The keys behind an approval with their paths, and checkpoints of the other chains in which some were made. */
async function placedKeys(deps: EvidenceDeps, checkpoint: StoredCheckpoint, approval: readonly StoredEntry[]) {
  const made = await approvalKeys(deps.store, approval)
  if (made === undefined) return undefined
  const beside: string[] = []
  const entries: Placed[] = []
  for (const [chain, own] of [...grouped(made, ({ header }) => header.chain)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const last = Math.max(...own.map(({ header }) => header.seq))
    const isOwn = chain === checkpoint.chain
    const under = isOwn ? checkpoint : await deps.checkpoints.covering(chain, last, await takenUpTo(deps.store))
    if (!isOwn) beside.push(under.note)
    entries.push(...(await placed(deps, under, own)))
  }
  const idOf = ({ entry }: Placed): string => changeIn(entry)?.id ?? ''
  return { entries: entries.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1)), beside }
}

/** The previous entry, whose hash the entry links to; undefined where it is gone. */
async function previousOf({ store }: Deps, { header }: StoredEntry): Promise<StoredEntry | undefined> {
  const previous = header.seq === 0 ? undefined : await store.entryAt(header.chain, header.seq - 1)
  if (previous === undefined) return undefined
  if (previous.hash !== header.prev || hashHeader(previous.headerText) !== previous.hash) throw altered(previous.header)
  return previous
}

function altered({ chain, seq }: { chain: string; seq: number }): GateError {
  return new GateError('audit_unavailable', `Audit chain ${chain}, entry ${seq} was altered; see \`audit verify\`.`)
}
