import { SYSTEM_CHAIN } from '../audit/chain.ts'
import { checkpointText } from '../audit/checkpoint.ts'
import type { Actor } from '../audit/entry.ts'
import { fold } from '../audit/tree.ts'
import { utf8 } from '../base/bytes.ts'
import { formatTimestamp } from '../base/time.ts'
import { formatNote } from '../evidence/note.ts'
import { signatureOf } from '../evidence/sign.ts'
import type { AnchorRecord, AnchorSink } from './anchors.ts'
import { compareAnchors, type Discrepancy } from './compare-anchors.ts'
import { decideAndCommit, eventEntry } from './deps.ts'
import type { EvidenceDeps } from './evidence.ts'
import { noteKey } from './signing-keys.ts'
import { type UnsignedTail, unsignedTails } from './unsigned-tails.ts'

export interface Restored {
  discrepancies: readonly Discrepancy[]
  unsigned: readonly UnsignedTail[]
  /** What still contradicts the anchors: a chain that cannot be signed as it is. */
  left: readonly Discrepancy[]
}

/**
 * Takes up the trail as it is, though anchors say otherwise or checkpoints are missing: records that, signs what must have been
 * signed, and puts a checkpoint of each chain that the anchors contradict behind them. Whoever holds the older ones still sees
 * the break. Does nothing where there is nothing to take up.
 *
 * @throws SinkFailure when the anchors can be neither read nor written; GateError `audit_unavailable`
 */
export async function restoreTrail(
  deps: EvidenceDeps,
  anchors: (AnchorSink & AnchorRecord) | undefined,
  { reason, actor }: { reason: string; actor: Actor },
): Promise<Restored> {
  const { store } = deps
  const contradicted = async (): Promise<Discrepancy[]> =>
    anchors === undefined ? [] : compareAnchors(store, (await anchors.newest()).newest)
  const discrepancies = await contradicted()
  const unsigned = await unsignedTails(store)
  if (discrepancies.length === 0 && unsigned.length === 0) return { discrepancies, unsigned, left: [] }
  const data = { reason, discrepancies: discrepancies.map(({ why: _, ...recorded }) => recorded), unsigned }
  await decideAndCommit(store, async () => ({
    submission: {
      guards: [],
      writes: [],
      entries: [eventEntry(deps, SYSTEM_CHAIN, 'audit.restored', data, actor)],
    },
    reply: () => undefined,
  }))
  await deps.checkpoints.takeUp(unsigned.map(({ chain }) => chain))
  if (anchors !== undefined)
    await anchor(deps, anchors, new Set([...discrepancies.map(({ chain }) => chain), SYSTEM_CHAIN]))
  return { discrepancies, unsigned, left: await contradicted() }
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

/** A signed checkpoint of all that a chain has: of one that is not there, that it has nothing. */
async function noteOf({ store, keyring, checkpoints }: EvidenceDeps, chain: string): Promise<string> {
  const length = (await store.lengths([chain])).get(chain) ?? 0
  if (length > 0) return (await checkpoints.covering(chain, length - 1)).note
  const text = checkpointText({ origin: store.origin, chain, size: 0, root: fold([]) })
  const key = keyring.logKey()
  return formatNote(text, noteKey(store, key), signatureOf(utf8(text), key.privateKey))
}
