import type { Actor } from '../../audit/draft.ts'
import { coverOf, coverRanges } from '../../audit/merkle.ts'
import { encodeBase64 } from '../../base/bytes.ts'
import { GateError } from '../../base/errors.ts'
import { DAY_MS, formatTimestamp, MAX_DURATION_MS } from '../../base/time.ts'
import { type Prune, PruneShape, type UnsignedPrune } from '../../evidence/prune.ts'
import { signStatement } from '../../evidence/signature.ts'
import { lengthOf, oldestOf } from '../../store/bounds.ts'
import type { Store } from '../../store/store.ts'
import type { TreeNode } from '../../store/submission.ts'
import { type ApprovalSpan, approvalSpans, cutFinder } from '../approvals/spans.ts'
import { decideAndCommit, eventEntry } from '../deps.ts'
import type { EvidenceDeps } from '../evidence/evidence.ts'
import { verifySeqs } from './verify-range.ts'

/** Minimum age of pruned entries: facts over time, and the use of approvals, reach back at most 90 days. */
export const MIN_AGE_DAYS = MAX_DURATION_MS / DAY_MS
/** Approximate number of entries in one commit, for which other writes wait. */
const BATCH = 5000

/** The prunable entries of a chain: first <= seq < end. */
export interface Prunable {
  chain: string
  first: number
  end: number
  approvals: readonly ApprovalSpan[]
}

/**
 * Finds the entries written before this time that can be pruned: up to a checkpoint that every anchor sink has, and
 * splitting no approval. Verifies all of them.
 *
 * @param unused sinks that no longer receive anchors
 * @returns an empty range when nothing can be pruned
 * @throws GateError `invalid_request` when the time is too near; `audit_unavailable` when the entries are not what was
 *   signed
 */
export async function prunable(
  deps: EvidenceDeps,
  chain: string,
  { beforeMs, unused = [] }: { beforeMs: number; unused?: readonly string[] },
  onProgress?: (verified: number) => void,
): Promise<Prunable> {
  const { store, clock } = deps
  if (beforeMs > clock() - MAX_DURATION_MS)
    throw new GateError('invalid_request', `Entries younger than ${MIN_AGE_DAYS} days cannot be pruned.`)
  const first = await oldestOf(store, chain)
  const old = await store.seqNotBefore(chain, formatTimestamp(beforeMs))
  const newest = (await lengthOf(store, chain)) - 1
  const limit = Math.min(old, newest, await anchoredSize(store, chain, unused))
  const approvals = await approvalSpans(deps, { chain, first, end: limit })
  const end = await cutBefore(store, chain, limit, cutFinder(approvals))
  if (end <= first) return { chain, first, end: first, approvals: [] }
  const { valid, fault } = await verifySeqs(store, chain, { first, end }, {}, onProgress)
  if (!valid) throw new GateError('audit_unavailable', `Audit chain ${chain} does not match its signatures: ${fault}.`)
  return { chain, first, end, approvals: approvals.filter(({ last }) => last < end) }
}

/** The size of the chain that every sink in use has anchored, of the sinks that took any checkpoint. */
async function anchoredSize(store: Store, chain: string, unused: readonly string[]): Promise<number> {
  const numbers = (await store.deliveries()).filter(({ sink }) => !unused.includes(sink)).map(({ number }) => number)
  if (numbers.length === 0) return Number.POSITIVE_INFINITY
  return (await store.lastCheckpointUpTo(chain, Math.min(...numbers)))?.size ?? 0
}

/** The largest checkpoint within `limit` that splits no approval; 0 without one. */
async function cutBefore(store: Store, chain: string, limit: number, cut: (size: number) => number): Promise<number> {
  for (let end = limit; end > 0; ) {
    const size = (await store.checkpointWithin(chain, end))?.size ?? 0
    end = cut(size)
    if (end === size) return size
  }
  return 0
}

/**
 * Deletes these entries in commits that each leave a whole chain. Each record states, signed by the log key, what is
 * gone and what it leaves.
 *
 * @param archive the export that holds the entries
 * @param onProgress called with the number of deleted entries
 * @throws GateError `overloaded` when somebody else prunes the chain
 */
export async function prune(
  deps: EvidenceDeps,
  actor: Actor,
  { chain, first, end, approvals }: Prunable,
  { archive, reason }: Pick<Prune, 'archive' | 'reason'>,
  onProgress: (done: number) => void = () => undefined,
): Promise<void> {
  const { store } = deps
  const cut = cutFinder(approvals)
  for (let from = first; from < end; ) {
    const within = await cutBefore(store, chain, Math.min(end, from + BATCH), cut)
    const size = within > from ? within : await cutAfter(store, chain, from, cut)
    const hashes = await store.treeHashes(chain, coverRanges(0, size))
    const statement = await statementOf(deps, chain, { size, archive, reason, frontier: hashes.map(encodeBase64) })
    const gone = approvals.filter(({ last }) => last >= from && last < size).map(({ id }) => id)
    const frontier = coverOf(0, size).flatMap((place, i) =>
      hashes[i] === undefined ? [] : { ...place, hash: hashes[i] },
    )
    await commitPrune(deps, actor, statement, { from, frontier, approvals: gone })
    from = size
    onProgress(from - first)
  }
}

/** The smallest checkpoint past `from` that splits no approval. */
async function cutAfter(store: Store, chain: string, from: number, cut: (size: number) => number): Promise<number> {
  for (let seq = from; ; ) {
    const checkpoint = await store.checkpointCovering(chain, seq)
    if (checkpoint === undefined)
      throw new GateError('audit_unavailable', `Audit chain ${chain} has no checkpoint left.`)
    if (cut(checkpoint.size) === checkpoint.size) return checkpoint.size
    seq = checkpoint.size
  }
}

async function statementOf(
  { store }: EvidenceDeps,
  chain: string,
  given: Pick<Prune, 'size' | 'archive' | 'reason' | 'frontier'>,
): Promise<Omit<UnsignedPrune, 'signedBy'>> {
  const { size } = given
  const last = await store.entryAt(chain, size - 1)
  if (last === undefined)
    throw new GateError('audit_unavailable', `Audit chain ${chain}, entry ${size - 1} is missing.`)
  const { origin } = store
  return {
    origin,
    chain,
    ...given,
    lastHash: last.hash,
    lastTs: last.header.ts,
    ...(await store.stateBefore(chain, size)),
  }
}

function commitPrune(
  deps: EvidenceDeps,
  actor: Actor,
  unsigned: Omit<UnsignedPrune, 'signedBy'>,
  { from, frontier, approvals }: { from: number; frontier: readonly TreeNode[]; approvals: readonly string[] },
): Promise<void> {
  const { chain, size } = unsigned
  return decideAndCommit(deps.store, async () => {
    const key = await deps.keyring.logKey()
    const statement: UnsignedPrune = { ...unsigned, signedBy: key.publicKey }
    const signed = { ...statement, signature: signStatement('prune', statement, key.privateKey) }
    // An unreadable record would leave a chain that cannot be verified.
    const fault = PruneShape.fault(signed, '')
    if (fault !== undefined)
      throw new GateError('invalid_request', `The record of the pruned entries would be malformed: ${fault}.`)
    return {
      submission: {
        guards: [
          { kind: 'prunedTo', chain, size: from },
          { kind: 'logKeyInUse', id: key.id },
        ],
        writes: [{ kind: 'prune', chain, size, frontier, approvals }],
        entries: [eventEntry(deps, chain, 'audit.prune', signed, actor)],
      },
      reply: () => undefined,
    }
  })
}
