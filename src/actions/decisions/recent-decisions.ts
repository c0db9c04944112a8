import { setImmediate as turn } from 'node:timers/promises'
import type { StoredEntry } from '../../audit/entry.ts'
import { siblingId } from '../../base/id.ts'
import type { Store } from '../../store/store.ts'
import { type Decided, decidedOf } from '../gate/answer.ts'

/** Entries, and characters of them, that are read before other work runs. */
const PORTION = 100
const PORTION_CHARACTERS = 512 * 1024
/** The sections read of a decision: not the request, which may be large. */
const SECTIONS = ['decision', 'grounds', 'risk']

export interface RecentDecision {
  id: string
  seq: number
  timestamp: string
  entryId: string
  /** Undefined when the decision has been erased. */
  decided: Decided | undefined
}

/**
 * The decisions of first <= seq < end, newest first, in portions; other work runs between two portions. Each has read
 * all entries from `reached` on, and so many characters.
 */
export async function* decisionsBackwards(store: Store, chain: string, { first, end }: { first: number; end: number }) {
  for (let before = end; before > first; ) {
    const since = Math.max(first, before - PORTION)
    const { items, total } = await store.page({
      ...{ chain, eventType: 'gate.decision', order: 'desc', limit: PORTION, offset: 0, since, before },
      ...{ sections: SECTIONS, maxBytes: PORTION_CHARACTERS },
    })
    const last = items.at(-1)
    // Large entries end a portion early.
    const reached = last !== undefined && items.length < total ? last.header.seq : since
    yield {
      decisions: items.map(recentDecision),
      reached,
      characters: items.reduce((sum, one) => sum + sizeOf(one), 0),
    }
    before = reached
    await turn()
  }
}

function recentDecision(entry: StoredEntry): RecentDecision {
  const { id: entryId, seq, ts: timestamp } = entry.header
  return { id: siblingId(entryId, 'decision'), seq, timestamp, entryId, decided: decidedOf(entry) }
}

function sizeOf({ sections }: StoredEntry): number {
  return sections.reduce((sum, { json }) => sum + json.length, 0)
}
