import { setTimeout as sleep } from 'node:timers/promises'
import { chainOf, isLane, laneNumber, SYSTEM_CHAIN, trailOf } from '../../audit/chain.ts'
import { EVENT_TYPES } from '../../audit/events.ts'
import { GateError } from '../../base/errors.ts'
import { type EventGroup, mayReceive } from '../../keys/event-roles.ts'
import type { Role } from '../../keys/roles.ts'
import type { Store } from '../../store/store.ts'
import type { Caller, CheckDeps } from '../deps.ts'
import { type Stream, type StreamItem, streamFor } from '../waiters.ts'
import { eventForCaller } from './event-for-caller.ts'
import { eventsFrom, nextLengths } from './follow.ts'
import { parsePosition, positionText } from './position.ts'

/** Interval after which a reader without events gets a heartbeat. */
const HEARTBEAT_MS = 15_000
/** Pause after each part for a reader that catches up. */
const PAUSE_MS = 1

/** A followed chain, and the position in it. */
interface Cursor {
  chain: string
  types: readonly string[]
  /** The seq to be read next. */
  next: number
  length: number
  /** The next seq in the reader's own chain. In other chains the number of events sent: their lengths stay hidden. */
  count: number
  own: boolean
}

/** Cursors of a reader: one for each chain that its key always follows, and those in the lanes of its trail, by number. */
interface Cursors {
  chains: readonly Cursor[]
  lanes: readonly Cursor[]
}

/**
 * Events of the caller's tenant and environment, from the audit chains. The first item is the starting position: behind
 * `lastEventId`, else now.
 * The iteration throws GateError `invalid_request` before its first item for an unusable position.
 */
export function eventStream(
  deps: CheckDeps,
  caller: Caller,
  lastEventId: string | undefined,
  isGone: () => boolean,
): Stream {
  return streamFor(deps, caller, { isGone, ends: false }, (isOver) => follow(deps, caller, lastEventId, isOver))
}

async function* follow(
  deps: CheckDeps,
  caller: Caller,
  lastEventId: string | undefined,
  isOver: () => boolean,
): AsyncGenerator<StreamItem> {
  let cursors = await cursorsFrom(deps.store, caller, lastEventId)
  const standing = (): StreamItem => ({ position: positionOf(cursors), event: undefined })
  yield standing()
  let lastSentMs = performance.now()
  while (!isOver()) {
    for (const cursor of allOf(cursors)) {
      for await (const event of read(deps, caller, cursor)) {
        yield { position: positionOf(cursors), event }
        lastSentMs = performance.now()
      }
    }
    if (performance.now() - lastSentMs >= HEARTBEAT_MS) {
      yield standing()
      lastSentMs = performance.now()
    }
    if (allOf(cursors).some(({ next, length }) => next < length)) await sleep(PAUSE_MS)
    else cursors = await awaitMore(deps.store, caller, cursors)
  }
}

function allOf({ chains, lanes }: Cursors): Cursor[] {
  return [...chains, ...lanes]
}

/** Waits for longer chains, and for new lanes, which are read from their first entry on. */
async function awaitMore(store: Store, caller: Caller, cursors: Cursors): Promise<Cursors> {
  const types = typesInLanes(caller)
  const trail = types.length === 0 ? undefined : caller.chain
  const known = allOf(cursors)
  const lengths = await nextLengths(store, { chains: known.map(({ chain }) => chain), trail })
  for (const cursor of known) cursor.length = lengths.get(cursor.chain) ?? cursor.length
  const fresh: Cursor[] = []
  for (const [chain, length] of lengths)
    if (isLane(chain) && trailOf(chain) === trail && !known.some((cursor) => cursor.chain === chain))
      fresh.push({ chain, types, own: true, next: 0, count: 0, length })
  return fresh.length === 0 ? cursors : { ...cursors, lanes: byNumber([...cursors.lanes, ...fresh]) }
}

function byNumber<T extends { chain: string }>(lanes: readonly T[]): T[] {
  return lanes.toSorted((a, b) => laneNumber(a.chain) - laneNumber(b.chain))
}

/** Reads one batch of a chain and yields the caller's events; the cursor stands behind each. */
async function* read(deps: CheckDeps, caller: Caller, cursor: Cursor) {
  if (cursor.next >= cursor.length) return
  const { events, end } = await eventsFrom(deps.store, { ...cursor, first: cursor.next })
  for (const event of events) {
    advance(cursor, event.seq + 1, 1)
    const json = eventForCaller(deps, caller, event)
    if (json !== undefined) yield { type: event.type, json }
  }
  advance(cursor, end, 0)
}

function advance(cursor: Cursor, next: number, events: number): void {
  cursor.next = next
  cursor.count = cursor.own ? next : cursor.count + events
}

type Followed = Pick<Cursor, 'chain' | 'types' | 'own'>

/** The chains that the caller always follows: the service's for L4 stops, the live one for policies. */
function chainsOf({ key, chain, tenantId, environment }: Caller): Followed[] {
  const told = (group: EventGroup): boolean => mayReceive(group, key.roles)
  const others: Followed[] = []
  if (told('killswitch')) others.push({ chain: SYSTEM_CHAIN, types: typesOf(['killswitch']), own: false })
  if (environment === 'test' && told('policy'))
    others.push({ chain: chainOf(tenantId, 'live'), types: typesOf(['policy']), own: false })
  const types = typesOf(['approval', 'killswitch', 'policy', ...oftenTold(key.roles)])
  return [{ chain, types, own: true }, ...others]
}

/** Groups of most entries, and the only ones in lanes: callers that receive neither skip them. */
function oftenTold(roles: readonly Role[]): EventGroup[] {
  return (['gate', 'outcome'] as const).filter((group) => mayReceive(group, roles))
}

function typesInLanes({ key }: Caller): string[] {
  return typesOf(oftenTold(key.roles))
}

function typesOf(groups: readonly EventGroup[]): string[] {
  return EVENT_TYPES.filter((type) => groups.some((group) => type.startsWith(`${group}.`)))
}

function positionOf({ chains, lanes }: Cursors): string {
  return positionText({
    counts: chains.map(({ count }) => count),
    lanes: lanes.map(({ chain, count }) => ({ lane: laneNumber(chain), count })),
  })
}

/**
 * Lanes without a number in the position had no entries then, and are read from their first one on.
 *
 * @throws GateError `invalid_request`
 */
async function cursorsFrom(store: Store, caller: Caller, lastEventId: string | undefined): Promise<Cursors> {
  const followed = chainsOf(caller)
  const types = typesInLanes(caller)
  const names = types.length === 0 ? [] : (await store.lanes(caller.chain)).filter(isLane)
  const lanes = byNumber(names.map((chain) => ({ chain, types, own: true })))
  const position = lastEventId === undefined ? undefined : countsAt(lastEventId, followed, lanes)
  const lengths = await store.lengths([...followed, ...lanes].map(({ chain }) => chain))
  const at = (of: Followed, count: number | undefined) => cursorAt(store, of, lengths.get(of.chain) ?? 0, count)
  return {
    chains: await Promise.all(followed.map((chain, i) => at(chain, position?.chains[i]))),
    lanes: await Promise.all(lanes.map((lane, i) => at(lane, position?.lanes[i]))),
  }
}

/** The counts of a position, for each of the chains and lanes. @throws GateError `invalid_request` */
function countsAt(lastEventId: string, followed: readonly Followed[], lanes: readonly Followed[]) {
  const position = parsePosition(lastEventId)
  if (position?.counts.length !== followed.length) throw noPosition()
  const counts = new Map(position.lanes.map(({ lane, count }) => [lane, count]))
  const known = lanes.map(({ chain }) => laneNumber(chain))
  for (const [lane, count] of counts) if (count > 0 && !known.includes(lane)) throw noPosition()
  return { chains: position.counts, lanes: known.map((lane) => counts.get(lane) ?? 0) }
}

async function cursorAt(store: Store, followed: Followed, length: number, count: number | undefined): Promise<Cursor> {
  const { chain, types, own } = followed
  const seqs = own ? [] : await store.seqsOfTypes(chain, types, { first: 0, end: length })
  const gone = own ? 0 : await prunedEvents(store, followed)
  const newest = own ? length : gone + seqs.length
  if (count === undefined) return { ...followed, next: length, length, count: newest }
  if (count > newest) throw noPosition()
  if (own) return { ...followed, next: count, length, count }
  // A position before pruned entries continues behind them.
  const told = Math.max(count, gone)
  return { ...followed, next: (seqs[told - gone - 1] ?? -1) + 1, length, count: told }
}

async function prunedEvents(store: Store, { chain, types }: Followed): Promise<number> {
  const { events } = (await store.pruned(chain)) ?? {}
  return types.reduce((sum, type) => sum + (events?.[type] ?? 0), 0)
}

function noPosition(): GateError {
  const message = 'is not the id of an event that this key has received'
  return new GateError('invalid_request', `Last-Event-ID ${message}; leave it out to start now.`, {
    details: [{ path: '/Last-Event-ID', message }],
  })
}
