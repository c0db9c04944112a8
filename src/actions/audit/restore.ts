import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import type { Actor, EntryDraft } from '../../audit/draft.ts'
import { fold } from '../../audit/merkle.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { AnchorRecord, AnchorSink } from '../anchors/anchors.ts'
import { compareAnchors, type Discrepancy } from '../anchors/compare.ts'
import { decideAndCommit, eventEntry } from '../deps.ts'
import type { EvidenceDeps } from '../evidence/evidence.ts'
import { signedCheckpoint } from '../evidence/signing-keys.ts'
import { type UnsignedTail, unsignedTails } from './unsigned-tails.ts'

export interface Restored {
  discrepancies: readonly Discrepancy[]
  /** The unsigned entries that were adopted. */
  unsigned: readonly UnsignedTail[]
  /** Remaining contradictions to the anchors: chains that cannot be signed as they are. */
  left: readonly Discrepancy[]
  /** Reasons why chains with unsigned entries cannot be adopted. */
  refused: readonly string[]
}

/**
 * Adopts the trail as it is, despite contradicting anchors or missing checkpoints: records that, signs it, and anchors
 * a checkpoint of each contradicted chain. Holders of older anchors still see the break. A chain that its own links or
 * `_system` contradict stays as it is.
 *
 * @throws SinkFailure when the anchors can be neither read nor written; GateError `audit_unavailable`
 */
export async function restoreTrail(
  deps: EvidenceDeps,
  anchors: (AnchorSink & AnchorRecord) | undefined,
  { reason, actor }: { reason: string; actor: Actor },
): Promise<Restored> {
  const { store, checkpoints } = deps
  const contradicted = async (): Promise<Discrepancy[]> =>
    anchors === undefined ? [] : compareAnchors(store, (await anchors.newest()).newest)
  const entry = (found: Pick<Restored, 'discrepancies' | 'unsigned'>): EntryDraft => {
    const discrepancies = found.discrepancies.map(({ why: _, ...recorded }) => recorded)
    return eventEntry(deps, SYSTEM_CHAIN, 'audit.restored', { reason, ...found, discrepancies }, actor)
  }
  const discrepancies = await contradicted()
  let unsigned: readonly UnsignedTail[] = []
  const tails = await unsignedTails(store)
  await checkpoints.adopt(
    tails.map(({ chain }) => chain),
    (taken) => {
      unsigned = tails.filter(({ chain }) => taken.includes(chain))
      return entry({ discrepancies: [], unsigned })
    },
  )
  const refused = tails.flatMap(({ chain }) => checkpoints.faults().get(chain) ?? [])
  if (anchors === undefined || discrepancies.length === 0) return { discrepancies, unsigned, left: [], refused }
  await decideAndCommit(store, async () => ({
    submission: { guards: [], writes: [], entries: [entry({ discrepancies, unsigned: [] })] },
    reply: () => undefined,
  }))
  await anchor(deps, anchors, new Set([...discrepancies.map(({ chain }) => chain), SYSTEM_CHAIN]))
  return { discrepancies, unsigned, left: await contradicted(), refused }
}

async function anchor(deps: EvidenceDeps, anchors: AnchorSink, chains: Iterable<string>): Promise<void> {
  const notes: string[] = []
  for (const chain of chains) notes.push(await noteOf(deps, chain))
  const at = formatTimestamp(deps.clock())
  await anchors.take(
    notes.map((checkpoint) => ({ at, checkpoint })),
    new AbortController().signal,
  )
}

/** A signed checkpoint of the whole chain; for a missing chain, of an empty one. */
async function noteOf({ store, keyring, checkpoints }: EvidenceDeps, chain: string): Promise<string> {
  const length = (await store.lengths([chain])).get(chain) ?? 0
  if (length > 0) return (await checkpoints.covering(chain, length - 1)).note
  return signedCheckpoint(store, keyring.logKey(), { chain, size: 0, root: fold([]) })
}
