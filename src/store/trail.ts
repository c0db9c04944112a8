import { inTrailOrder, laneNumber, type TrailPlace } from '../audit/chain.ts'
import type { StoredEntry } from '../audit/entry.ts'
import { formatTimestamp } from '../base/time.ts'
import { entrySize, withinBytes } from './budget.ts'
import type { PageQuery, TrailQuery, TrailTaken, TrailTakenQuery } from './queries.ts'
import { read, type Steps } from './steps.ts'
import type { Tables } from './tables.ts'

/** Headers that are read at once of each chain. */
const HEADERS_AT_ONCE = 64

/** A chain of a trail, with the part of the query that is about it. */
interface Lane {
  query: Omit<PageQuery, 'limit' | 'offset'>
  total: number
  /** Headers that are read and not yet listed. */
  ahead: StoredEntry[]
  /** True when no more are to be read. */
  isRead: boolean
}

/** A page of the entries of all chains of a trail, in the order of trails. A page of large entries ends early. */
export async function trailPage(
  { entries }: Pick<Tables, 'entries'>,
  { trail, before, ...query }: TrailQuery,
): Promise<{ items: StoredEntry[]; total: number }> {
  const chains = await entries.lanes(trail)
  const [chain = trail, ...others] = chains
  if (others.length === 0) return entries.page({ ...query, chain, before: await boundOf(entries, chain, before) })
  const { limit, offset, sections, maxBytes, ...filter } = query
  const lanes = await Promise.all(
    chains.map(async (name): Promise<Lane> => {
      const of = { ...filter, chain: name, before: await boundOf(entries, name, before) }
      return { query: of, ...(await headersOf(entries, of)) }
    }),
  )
  const total = lanes.reduce((sum, lane) => sum + lane.total, 0)
  const listed = await merged(entries, lanes, query)
  const whole = sections?.length === 0 ? listed : await withSections(entries, lanes, listed, { sections, maxBytes })
  return { items: whole, total }
}

/** Allowed actions of a trail that was copied into a file, all at once. */
export function* takenInTrail(
  { entries, decisions }: Pick<Tables, 'entries' | 'decisions'>,
  { trail, agent, session, fromMs, toMs }: TrailTakenQuery,
): Steps<TrailTaken[]> {
  const found: TrailTaken[] = []
  for (const chain of yield* read(entries.lanes(trail))) {
    const length = yield* read(entries.length(chain))
    const first = yield* read(entries.firstNotBefore(chain, length, fromMs, undefined))
    const end = yield* read(entries.firstNotBefore(chain, length, toMs, undefined))
    for (const taken of yield* read(decisions.taken({ chain, agent, session, first, end, limit: -1 }))) {
      const entry = yield* read(entries.withoutSections(chain, taken.seq))
      if (entry !== undefined) found.push({ ...taken, chain, tsMs: Date.parse(entry.header.ts) })
    }
  }
  return found.sort((a, b) => a.tsMs - b.tsMs || laneNumber(a.chain) - laneNumber(b.chain) || a.seq - b.seq)
}

/** First seq of a chain that is not before the place. */
async function boundOf(
  entries: Tables['entries'],
  chain: string,
  place: TrailPlace | undefined,
): Promise<number | undefined> {
  if (place === undefined) return undefined
  if (chain === place.chain) return place.seq
  // Entries of one time are listed by lane.
  const isBefore = laneNumber(chain) < laneNumber(place.chain)
  return entries.seqNotBefore(chain, isBefore ? formatTimestamp(Date.parse(place.ts) + 1) : place.ts)
}

async function headersOf(entries: Tables['entries'], query: Lane['query']): Promise<Omit<Lane, 'query'>> {
  const { items, total } = await entries.page({ ...query, sections: [], limit: HEADERS_AT_ONCE, offset: 0 })
  return { ahead: items, total, isRead: items.length < HEADERS_AT_ONCE }
}

/** Headers of the page: the next of any lane, again and again. */
async function merged(
  entries: Tables['entries'],
  lanes: readonly Lane[],
  { order, limit, offset }: Pick<TrailQuery, 'order' | 'limit' | 'offset'>,
): Promise<StoredEntry[]> {
  const sign = order === 'asc' ? 1 : -1
  const listed: StoredEntry[] = []
  const take = async (lane: Lane): Promise<StoredEntry | undefined> => {
    const entry = lane.ahead.shift()
    if (entry === undefined || lane.ahead.length > 0 || lane.isRead) return entry
    // By seq, since entries are appended meanwhile.
    const { seq } = entry.header
    const rest = { ...lane.query, ...(order === 'asc' ? { since: seq + 1 } : { before: seq }) }
    const { ahead, isRead } = await headersOf(entries, rest)
    Object.assign(lane, { ahead, isRead })
    return entry
  }
  for (let passed = 0; passed < offset + limit; passed += 1) {
    let first: Lane | undefined
    for (const lane of lanes) {
      const [next] = lane.ahead
      const [known] = first?.ahead ?? []
      if (next !== undefined && (known === undefined || sign * inTrailOrder(next.header, known.header) < 0))
        first = lane
    }
    const entry = first && (await take(first))
    if (entry === undefined) break
    if (passed >= offset) listed.push(entry)
  }
  return listed
}

/** The listed entries as a whole. Those of one chain are next to each other there. */
async function withSections(
  entries: Tables['entries'],
  lanes: readonly Lane[],
  listed: readonly StoredEntry[],
  content: Pick<TrailQuery, 'sections' | 'maxBytes'>,
): Promise<StoredEntry[]> {
  const whole = new Map<string, StoredEntry>()
  for (const { query } of lanes) {
    const seqs = listed.flatMap(({ header }) => (header.chain === query.chain ? [header.seq] : []))
    if (seqs.length === 0) continue
    const span = { since: Math.min(...seqs), before: Math.max(...seqs) + 1, limit: seqs.length, offset: 0 }
    const { items } = await entries.page({ ...query, ...span, ...content })
    for (const entry of items) whole.set(entry.header.id, entry)
  }
  // A lane of large entries ended early, and the page with it.
  const missing = listed.findIndex(({ header }) => !whole.has(header.id))
  const found = listed.slice(0, missing < 0 ? undefined : missing).map(({ header }) => whole.get(header.id))
  return withinBytes(
    found.filter((entry) => entry !== undefined),
    content.maxBytes,
    (entry) => entry,
    entrySize,
  )
}
