import { setImmediate as turn } from 'node:timers/promises'
import type { TrailPlace } from '../../audit/chain.ts'
import type { StoredEntry } from '../../audit/entry.ts'
import { siblingId } from '../../base/id.ts'
import type { TrailQuery } from '../../store/queries.ts'
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

/** Decisions among some entries of a trail. */
interface Portion {
  decisions: RecentDecision[]
  /** The oldest entry that was read. */
  reached: StoredEntry['header']
  /** True when there are no older ones. */
  isLast: boolean
  entries: number
  characters: number
}

/** The decisions of a trail, newest first, in portions of its entries; other work runs between two portions. */
export async function* decisionsBackwards(
  store: Store,
  query: Pick<TrailQuery, 'trail' | 'before' | 'from' | 'to'>,
): AsyncGenerator<Portion, undefined> {
  for (let before: TrailPlace | undefined = query.before; ; ) {
    const { items, total } = await store.trailPage({
      ...{ ...query, before, order: 'desc', limit: PORTION, offset: 0 },
      ...{ sections: SECTIONS, maxBytes: PORTION_CHARACTERS },
    })
    const last = items.at(-1)
    if (last === undefined) return
    const isLast = items.length >= total
    const decisions = items.filter(({ header }) => header.type === 'gate.decision').map(recentDecision)
    const characters = items.reduce((sum, one) => sum + sizeOf(one), 0)
    yield { decisions, reached: last.header, isLast, entries: items.length, characters }
    if (isLast) return
    before = last.header
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
