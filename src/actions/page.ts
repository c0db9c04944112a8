import { type TrailPlace, trailOf } from '../audit/chain.ts'
import type { StoredEntry } from '../audit/entry.ts'
import { GateError } from '../base/errors.ts'
import type { Store } from '../store/store.ts'

/** Limit of stored JSON in a page; the item that exceeds it is the last. No client wants a larger answer. */
export const PAGE_BYTES = 8 * 1024 * 1024

export interface PageGiven {
  limit: number
  offset: number
  total: number
}

/** The paging of the answer: a shortened page states its own number of items as `limit`. */
export function pageGiven({ limit, offset, total }: PageGiven, given: number): PageGiven {
  // A page without items made no progress that it could state.
  const isCut = given > 0 && given < Math.min(limit, total - offset)
  return { limit: isCut ? given : limit, offset, total }
}

/** Form of a place: the id of an entry, or `<chain>:<seq>`. */
export const PLACE_PATTERN = `^(aud_[0-9a-hjkmnp-tv-z]{26}|[A-Za-z0-9_~/-]{1,80}:(0|[1-9][0-9]{0,14}))$`
const PLACE = /^(.+):(\d+)$/

/** The place behind which a list goes on. @throws GateError `invalid_request` for none of the trail */
export async function placeOf(store: Store, trail: string, id: string | undefined): Promise<TrailPlace | undefined> {
  if (id === undefined) return undefined
  const [, chain, seq] = PLACE.exec(id) ?? []
  const entry = chain === undefined ? await store.entry(id) : await nearest(store, chain, Number(seq))
  if (entry !== undefined && trailOf(entry.header.chain) === trailOf(trail))
    return chain === undefined ? entry.header : { chain, seq: Number(seq), ts: entry.header.ts }
  const message = 'is not a place in this trail; start again without it'
  throw new GateError('invalid_request', `before ${message}.`, { details: [{ path: '/before', message }] })
}

/** The entry at a place, or the one before it where the chain ends. */
async function nearest(store: Store, chain: string, seq: number): Promise<StoredEntry | undefined> {
  return (await store.entryAt(chain, seq)) ?? (seq > 0 ? store.entryAt(chain, seq - 1) : undefined)
}
