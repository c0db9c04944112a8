import { keyIdOf, parseCheckpointNote } from '../../evidence/note.ts'
import type { Store } from '../../store/store.ts'
import type { StoredCheckpoint } from '../../store/submission.ts'
import { trustOf } from './trust.ts'

/**
 * The checkpoint to show for an entry, undefined when none covers it: the first, preferably up to `maxNumber`. A
 * revoked log key proves nothing to holders of no anchor: then a later checkpoint by a valid key, if any.
 */
export async function checkpointFor(
  store: Store,
  chain: string,
  seq: number,
  maxNumber?: number,
): Promise<StoredCheckpoint | undefined> {
  const covering =
    (await store.checkpointCovering(chain, seq, maxNumber)) ?? (await store.checkpointCovering(chain, seq))
  if (covering === undefined || !isByRevoked(store, covering)) return covering
  const taken = maxNumber === undefined ? undefined : await store.lastCheckpointUpTo(chain, maxNumber)
  for (const later of [taken, await store.lastCheckpoint(chain)])
    if (later !== undefined && later.size > seq && !isByRevoked(store, later)) return later
  return covering
}

function isByRevoked(store: Store, { note }: StoredCheckpoint): boolean {
  const { logKeys, revoked } = trustOf(store)
  const ids = logKeys.filter(({ publicKey }) => revoked.has(publicKey)).map(keyIdOf)
  const signed = parseCheckpointNote(note)?.signatures ?? []
  return signed.some(({ name, keyId }) => name === store.origin && ids.includes(keyId))
}
