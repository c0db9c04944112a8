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

export interface Restored {
  discrepancies: readonly Discrepancy[]
  /** What still contradicts the anchors: a chain that cannot be signed as it is. */
  left: readonly Discrepancy[]
}

/**
 * Takes up the trail as it is, though anchors say otherwise: records what they say, and puts a checkpoint of each chain that they
 * contradict behind them. Whoever holds the older ones still sees the break. Does nothing where there is nothing to take up.
 *
 * @throws SinkFailure when the anchors can be neither read nor written; GateError `audit_unavailable`
 */
export async function restoreAnchors(
  deps: EvidenceDeps,
  anchors: AnchorSink & AnchorRecord,
  { reason, actor }: { reason: string; actor: Actor },
): Promise<Restored> {
  const { store, clock } = deps
  const contradicted = async (): Promise<Discrepancy[]> => compareAnchors(store, (await anchors.newest()).newest)
  const discrepancies = await contradicted()
  if (discrepancies.length === 0) return { discrepancies, left: [] }
  const data = { reason, discrepancies: discrepancies.map(({ why: _, ...recorded }) => recorded) }
  await decideAndCommit(store, async () => ({
    submission: {
      guards: [],
      writes: [],
      entries: [eventEntry(deps, SYSTEM_CHAIN, 'audit.restored', data, actor)],
    },
    reply: () => undefined,
  }))
  const notes: string[] = []
  for (const chain of new Set([...discrepancies.map(({ chain }) => chain), SYSTEM_CHAIN]))
    notes.push(await noteOf(deps, chain))
  const at = formatTimestamp(clock())
  await anchors.take(
    notes.map((checkpoint) => ({ at, checkpoint })),
    new AbortController().signal,
  )
  return { discrepancies, left: await contradicted() }
}

/** A signed checkpoint of all that a chain has: of one that is not there, that it has nothing. */
async function noteOf({ store, keyring, checkpoints }: EvidenceDeps, chain: string): Promise<string> {
  const length = (await store.lengths([chain])).get(chain) ?? 0
  if (length > 0) return (await checkpoints.covering(chain, length - 1)).note
  const text = checkpointText({ origin: store.origin, chain, size: 0, root: fold([]) })
  const key = keyring.logKey()
  return formatNote(text, noteKey(store, key), signatureOf(utf8(text), key.privateKey))
}
