import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StoredEntry } from '../../audit/chain.ts'
import { boundedCache } from '../../base/bounded-cache.ts'
import { serialByKey } from '../../base/concurrency.ts'
import { idTimeMs, isId } from '../../base/id.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { Decision } from '../../policy/set.ts'
import { changeIn } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

/** A chain is read from so long ago on. */
const RECENT_MS = 7 * 24 * 3_600_000
/** How much is kept of a chain. */
export interface RecentLimits {
  /** So many of the newest decisions, up to twice as many for a while. */
  decisions: number
  /** The same of approvals that have ended. */
  ended: number
  /** So many of the newest entries are read where a chain was not looked at, or not for long. */
  entries: number
}
const LIMITS: RecentLimits = { decisions: 50_000, ended: 10_000, entries: 100_000 }
/** Combinations of decision, rule and step that are told apart; where old policies have left more, all is read anew. */
const MAX_KINDS = 20_000
/** Chains whose newest decisions are kept. Each takes 2 MB at most. */
const MAX_CHAINS = 16
/** Entries that are read before others get the processor. */
const ENTRIES_AT_ONCE = 250

export interface Kind {
  readonly decision: Decision
  readonly rule: string | null
  readonly decidedBy: string
}

const ENDS = ['approved', 'rejected', 'expired', 'cancelled'] as const
export type End = (typeof ENDS)[number]
const END_EVENTS = ENDS.map((end) => `approval.${end}`)

/** How an approval ended: people approved or rejected it, or nobody did. */
export interface Ended {
  readonly atMs: number
  readonly end: End
  /** From the request on; null where parts of the record have been erased. */
  readonly waitedMs: number | null
}

/** What happened on a chain lately. */
export interface Recent {
  /** From then on, all of it. */
  readonly completeMs: number
  /** By time: when, and what by its place in `kinds`. */
  readonly times: readonly number[]
  readonly places: readonly number[]
  readonly kinds: readonly Kind[]
  readonly ended: readonly Ended[]
}

/** Tells what was decided lately on a chain. What was read once is kept, and only what has come since is read. */
export type RecentReader = (chain: string, nowMs: number) => Promise<Recent>

export function recentReader(store: Store, limits = LIMITS): RecentReader {
  const serial = serialByKey()
  const cache = boundedCache<Tail>(MAX_CHAINS)
  // One after the other, so that many who read at once hold up the rest no longer than one does.
  const breathe = (): Promise<void> => serial('', () => nextTurn())

  return (chain, nowMs) =>
    serial(`of ${chain}`, async () => {
      const length = (await store.lengths([chain])).get(chain) ?? 0
      const known = cache.get(chain)
      const tail =
        known !== undefined && goesOn(known, length, limits)
          ? known
          : await newTail(store, chain, { length, nowMs, limits })
      cache.put(chain, tail)
      while (tail.next < length) {
        const end = Math.min(tail.next + ENTRIES_AT_ONCE, length)
        await readOn(store, tail, end, limits)
        await breathe()
      }
      return tail
    })
}

/** The newest part of a chain, as it has been read. */
interface Tail {
  readonly chain: string
  /** The seq that is read next. */
  next: number
  completeMs: number
  readonly times: number[]
  readonly places: number[]
  readonly kinds: Kind[]
  readonly placeOf: Map<string, number>
  readonly ended: Ended[]
}

function goesOn({ next, kinds }: Tail, length: number, { entries }: RecentLimits): boolean {
  return next <= length && length - next <= entries && kinds.length <= MAX_KINDS
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
  // Others of that millisecond may be among those that are read.
  const completeMs = lastTs === undefined ? 0 : Date.parse(lastTs) + 1
  return { chain, next, completeMs, times: [], places: [], kinds: [], placeOf: new Map(), ended: [] }
}

/** Reads the entries before `end`; a reading that fails is tried again from where it began. */
async function readOn(store: Store, tail: Tail, end: number, limits: RecentLimits): Promise<void> {
  const range = { first: tail.next, end }
  const decisions = await store.decisions(tail.chain, range)
  const ended = await endedIn(store, tail.chain, range)
  for (const { ts, ...kind } of decisions) {
    tail.times.push(Date.parse(ts))
    tail.places.push(placeOf(tail, kind))
  }
  tail.ended.push(...ended)
  tail.next = end
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

function placeOf(tail: Tail, kind: Kind): number {
  const name = JSON.stringify([kind.decision, kind.rule, kind.decidedBy])
  const place = tail.placeOf.get(name) ?? tail.kinds.push(kind) - 1
  tail.placeOf.set(name, place)
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
  // A vote ends it only where it completes the quorum; whether it did is not known where that has been erased.
  if (end === undefined || (end === 'approved' && change?.changes.status !== 'approved')) return []
  const atMs = Date.parse(ts)
  const askedMs = change !== undefined && isId(change.id, 'approval') ? idTimeMs(change.id) : undefined
  return [{ atMs, end, waitedMs: askedMs === undefined ? null : Math.max(0, atMs - askedMs) }]
}
