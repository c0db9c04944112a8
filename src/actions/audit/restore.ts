import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import type { Actor, EntryDraft } from '../../audit/draft.ts'
import { fold } from '../../audit/merkle.ts'
import { formatTimestamp } from '../../base/time.ts'
import { lengthOf } from '../../store/bounds.ts'
import type { Store } from '../../store/store.ts'
import type { Write } from '../../store/submission.ts'
import type { AnchorRecord, AnchorSink } from '../anchors/anchors.ts'
import { compareAnchors, type Discrepancy } from '../anchors/compare.ts'
import { type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import type { EvidenceDeps } from '../evidence/evidence.ts'
import { signedCheckpoint } from '../evidence/signing-keys.ts'
import { type UnsignedTail, unsignedTails } from './unsigned-tails.ts'

export interface Restored {
  discrepancies: readonly Discrepancy[]
  /** The unsigned entries that were adopted. */
  unsigned: readonly UnsignedTail[]
  /** Faults of the chains that were appended to without the log key, and are sealed now. */
  unsealed: readonly string[]
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
 * @param signing opens the keyring, which may itself write to the chains: they are sealed before
 * @throws SinkFailure when the anchors can be neither read nor written; GateError `audit_unavailable`
 */
export async function restoreTrail(
  plain: Deps,
  signing: () => Promise<EvidenceDeps>,
  anchors: (AnchorSink & AnchorRecord) | undefined,
  { reason, actor }: { reason: string; actor: Actor },
): Promise<Restored> {
  const { store } = plain
  const contradicted = async (): Promise<Discrepancy[]> =>
    anchors === undefined ? [] : compareAnchors(store, (await anchors.newest()).newest)
  const entry = (found: Partial<Pick<Restored, 'discrepancies' | 'unsigned' | 'unsealed'>>): EntryDraft => {
    const discrepancies = (found.discrepancies ?? []).map(({ why: _, ...recorded }) => recorded)
    const data = { reason, unsigned: [], unsealed: [], ...found, discrepancies }
    return eventEntry(plain, SYSTEM_CHAIN, 'audit.restored', data, actor)
  }
  const unsealed = await store.unsealed()
  const discrepancies = await contradicted()
  const isSealed = unsealed.length === 0
  if (!isSealed) await commit(store, [{ kind: 'reseal', key: undefined }], entry({ unsealed, discrepancies }))
  const deps = await signing()
  const { checkpoints } = deps
  let unsigned: readonly UnsignedTail[] = []
  const tails = await unsignedTails(store)
  await checkpoints.adopt(
    tails.map(({ chain }) => chain),
    (taken) => {
      unsigned = tails.filter(({ chain }) => taken.includes(chain))
      return entry({ unsigned })
    },
  )
  const refused = tails.flatMap(({ chain }) => checkpoints.faults().get(chain) ?? [])
  if (anchors === undefined || discrepancies.length === 0)
    return { discrepancies, unsigned, unsealed, left: [], refused }
  if (isSealed) await commit(store, [], entry({ discrepancies }))
  await anchor(deps, anchors, new Set([...discrepancies.map(({ chain }) => chain), SYSTEM_CHAIN]))
  return { discrepancies, unsigned, unsealed, left: await contradicted(), refused }
}

function commit(store: Store, writes: readonly Write[], recorded: EntryDraft): Promise<void> {
  const submission = { guards: [], writes, entries: [recorded] }
  return decideAndCommit(store, async () => ({ submission, reply: () => undefined }))
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
  const length = await lengthOf(store, chain)
  if (length > 0) return (await checkpoints.covering(chain, length - 1)).note
  return signedCheckpoint(store, await keyring.logKey(), { chain, size: 0, root: fold([]) })
}
