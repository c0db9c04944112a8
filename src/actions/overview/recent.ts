import { setImmediate as nextTurn } from 'node:timers/promises'
import { isLane } from '../../audit/chain.ts'
import type { StoredEntry } from '../../audit/entry.ts'
import { boundedCache } from '../../base/bounded-cache.ts'
import { serialByKey } from '../../base/concurrency.ts'
import { idTimeMs, isId } from '../../base/id.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { Decision } from '../../policies/set.ts'
import { changeIn } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

/** Age up to which entries of a chain are read. */
const RECENT_MS = 7 * 24 * 3_600_000
/** Limits of the cache of one trail, which its chains share. */
export interface RecentLimits {
  /** Newest decisions; up to twice as many for a while. */
  decisions: number
  /** The same for settled approvals. */
  ended: number
  /** Newest entries to read of chains that are new or have not been read for long. */
  entries: number
}
const LIMITS: RecentLimits = { decisions: 50_000, ended: 10_000, entries: 100_000 }
/** Limit of distinct combinations of decision, rule and step; beyond it, the trail is read anew. */
const MAX_KINDS = 20_000
/** Limit of cached trails. Each takes 2 MB at most. */
const MAX_TRAILS = 16
/** Entries that are read before other work runs. */
const ENTRIES_AT_ONCE = 250

interface Kind {
  readonly decision: Decision
  readonly rule: string | null
  readonly decidedBy: string
}

const ENDS = ['approved', 'rejected', 'expired', 'cancelled'] as const
export type End = (typeof ENDS)[number]
const END_EVENTS = ENDS.map((end) => `approval.${end}`)

/** The end of an approval: people approved or rejected it, or nobody did. */
export interface Ended {
  readonly atMs: number
  readonly end: End
  /** Time since its request; null where parts of the record have been erased. */
  readonly waitedMs: number | null
}

/** Decisions of a chain: their times, and their kinds as indexes of `kinds`. */
interface Decisions {
  readonly times: readonly number[]
  readonly places: readonly number[]
}

/** Recent events of a trail. Readers share the cache, and may not change it. */
export interface Recent {
  /** The time from which on the data is complete. */
  readonly completeMs: number
  readonly chains: readonly Decisions[]
  readonly kinds: readonly Kind[]
  readonly ended: readonly Ended[]
}

/** Reads the recent decisions of a trail from a cache, extended by the entries since. */
export type RecentReader = (trail: string, nowMs: number) => Promise<Recent>

export function recentReader(store: Store, limits = LIMITS): RecentReader {
  const serial = serialByKey()
  const cache = boundedCache<Tails>(MAX_TRAILS)
  // Readers run one after another, so that many delay other work no longer than one does.
  const breathe = (): Promise<void> => serial('', () => nextTurn())

  const tailOf = async (tails: Tails, chain: string, beginning: Beginning): Promise<Tail> => {
    const known = tails.chains.get(chain)
    const { length, limits: own } = beginning
    const tail = known !== undefined && goesOn(known, length, own) ? known : await newTail(store, chain, beginning)
    tails.chains.set(chain, tail)
    // The share of a chain shrinks with each new lane.
    forgetOld(tail, own)
    while (tail.next < length) {
      const end = Math.min(tail.next + ENTRIES_AT_ONCE, length)
      await readOn(store, tails, tail, end, own)
      await breathe()
    }
    return tail
  }

  return (trail, nowMs) =>
    serial(`of ${trail}`, async () => {
      const lengths = await store.lengths(await store.lanes(trail))
      const known = cache.get(trail)
      const tails = known !== undefined && known.kinds.length <= MAX_KINDS ? known : newTails()
      cache.put(trail, tails)
      const own = sharedBy(limits, lengths.size)
      const chains: Tail[] = []
      for (const [chain, length] of lengths) chains.push(await tailOf(tails, chain, { length, nowMs, limits: own }))
      const completeMs = Math.max(0, ...chains.map((tail) => tail.completeMs))
      return { completeMs, chains, kinds: tails.kinds, ended: chains.flatMap(({ ended }) => ended) }
    })
}

/** Limits of each of so many chains. */
function sharedBy({ decisions, ended, entries }: RecentLimits, chains: number): RecentLimits {
  const share = (limit: number): number => Math.ceil(limit / Math.max(1, chains))
  // Approvals end in one of the chains.
  return { decisions: share(decisions), ended, entries: share(entries) }
}

/** Cache of a trail: of each of its chains, and the kinds of their decisions. */
interface Tails {
  readonly chains: Map<string, Tail>
  readonly kinds: Kind[]
  readonly placeOf: Map<string, number>
}

function newTails(): Tails {
  return { chains: new Map(), kinds: [], placeOf: new Map() }
}

interface Tail extends Decisions {
  readonly chain: string
  /** The next seq to read. */
  next: number
  completeMs: number
  readonly times: number[]
  readonly places: number[]
  readonly ended: Ended[]
}

function goesOn({ next }: Tail, length: number, { entries }: RecentLimits): boolean {
  return next <= length && length - next <= entries
}

interface Beginning {
  length: number
  nowMs: number
  limits: RecentLimits
}

async function newTail(store: Store, chain: string, { length, nowMs, limits }: Beginning): Promise<Tail> {
  const since = await store.seqNotBefore(chain, formatTimestamp(Math.max(0, nowMs - RECENT_MS)))
  const next = Math.max(since, length - limits.entries)
  const before = next === 0 ? undefined : await store.entryAt(chain, next - 1)
  const lastTs = before?.header.ts ?? (await store.pruned(chain))?.lastTs
  // Older entries of that millisecond may be unread.
  const completeMs = lastTs === undefined ? 0 : Date.parse(lastTs) + 1
  return { chain, next, completeMs, times: [], places: [], ended: [] }
}

/** Reads the entries before `end`; a failed reading is repeated from its start. */
async function readOn(store: Store, tails: Tails, tail: Tail, end: number, limits: RecentLimits): Promise<void> {
  const range = { first: tail.next, end }
  const decisions = await store.decisions(tail.chain, range)
  const ended = isLane(tail.chain) ? [] : await endedIn(store, tail.chain, range)
  for (const { ts, decision, rule, decidedBy } of decisions) {
    tail.times.push(Date.parse(ts))
    tail.places.push(placeOf(tails, { decision, rule, decidedBy }))
  }
  tail.ended.push(...ended)
  tail.next = end
  forgetOld(tail, limits)
}

/** Keeps the newest, once there are twice as many. */
function forgetOld(tail: Tail, limits: RecentLimits): void {
  const old = tail.times.length - limits.decisions
  if (old >= limits.decisions) {
    forgetUntil(tail, tail.times.splice(0, old).at(-1))
    tail.places.splice(0, old)
  }
  const oldEnds = tail.ended.length - limits.ended
  if (oldEnds >= limits.ended) forgetUntil(tail, tail.ended.splice(0, oldEnds).at(-1)?.atMs)
}

function forgetUntil(tail: Tail, lastMs = 0): void {
  tail.completeMs = Math.max(tail.completeMs, lastMs + 1)
}

function placeOf(tails: Tails, kind: Kind): number {
  const name = JSON.stringify([kind.decision, kind.rule, kind.decidedBy])
  const place = tails.placeOf.get(name) ?? tails.kinds.push(kind) - 1
  tails.placeOf.set(name, place)
  return place
}

async function endedIn(store: Store, chain: string, range: { first: number; end: number }): Promise<Ended[]> {
  const ended: Ended[] = []
  for (const seq of await store.seqsOfTypes(chain, END_EVENTS, range)) {
    const entry = await store.entryAt(chain, seq)
    ended.push(...(entry === undefined ? [] : endIn(entry)))
  }
  return ended
}

function endIn(entry: StoredEntry): Ended[] {
  const { type, ts } = entry.header
  const change = changeIn(entry)
  const end = ENDS.find((one) => type === `approval.${one}`)
  // A vote ends the approval only when it completes the quorum, which is unknown where that was erased.
  if (end === undefined || (end === 'approved' && change?.changes.status !== 'approved')) return []
  const atMs = Date.parse(ts)
  const askedMs = change !== undefined && isId(change.id, 'approval') ? idTimeMs(change.id) : undefined
  return [{ atMs, end, waitedMs: askedMs === undefined ? null : Math.max(0, atMs - askedMs) }]
}
