import { setTimeout as sleep } from 'node:timers/promises'
import { chainOf, SYSTEM_CHAIN } from '../../audit/chain.ts'
import { EVENT_TYPES } from '../../audit/events.ts'
import { GateError } from '../../base/errors.ts'
import { type EventGroup, mayReceive } from '../../keys/event-roles.ts'
import type { Store } from '../../store/store.ts'
import type { Caller, CheckDeps } from '../deps.ts'
import { type Stream, type StreamItem, streamFor } from '../waiters.ts'
import { eventForCaller } from './event-for-caller.ts'
import { eventsFrom, nextLengths } from './follow.ts'

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
  const cursors = await cursorsFrom(deps.store, caller, lastEventId)
  const standing = (): StreamItem => ({ position: positionOf(cursors), event: undefined })
  yield standing()
  let lastSentMs = performance.now()
  while (!isOver()) {
    for (const cursor of cursors) {
      for await (const event of read(deps, caller, cursor)) {
        yield { position: positionOf(cursors), event }
        lastSentMs = performance.now()
      }
    }
    if (performance.now() - lastSentMs >= HEARTBEAT_MS) {
      yield standing()
      lastSentMs = performance.now()
    }
    if (cursors.some(({ next, length }) => next < length)) await sleep(PAUSE_MS)
    else await awaitMore(deps.store, cursors)
  }
}

async function awaitMore(store: Store, cursors: readonly Cursor[]): Promise<void> {
  const chains = cursors.map(({ chain }) => chain)
  const lengths = await nextLengths(store, chains)
  for (const cursor of cursors) cursor.length = lengths.get(cursor.chain) ?? cursor.length
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

/** The chains that the caller follows: the service's for L4 stops, the live one for policies. */
function chainsOf({ key, chain, tenantId, environment }: Caller): Followed[] {
  const told = (group: EventGroup): boolean => mayReceive(group, key.roles)
  const others: Followed[] = []
  if (told('killswitch')) others.push({ chain: SYSTEM_CHAIN, types: typesOf(['killswitch']), own: false })
  if (environment === 'test' && told('policy'))
    others.push({ chain: chainOf(tenantId, 'live'), types: typesOf(['policy']), own: false })
  // Decisions and outcomes are most entries: callers that receive none skip them.
  const often = (['gate', 'outcome'] as const).filter(told)
  const types = typesOf(['approval', 'killswitch', 'policy', ...often])
  return [{ chain, types, own: true }, ...others]
}

function typesOf(groups: readonly EventGroup[]): string[] {
  return EVENT_TYPES.filter((type) => groups.some((group) => type.startsWith(`${group}.`)))
}

/** One number for each chain. */
function positionOf(cursors: readonly Cursor[]): string {
  return cursors.map(({ count }) => count).join('-')
}

/** The form of every position. */
export const POSITION_PATTERN = '^(0|[1-9][0-9]{0,14})(-(0|[1-9][0-9]{0,14})){0,2}$'
const POSITION = new RegExp(POSITION_PATTERN)

/** @throws GateError `invalid_request` */
async function cursorsFrom(store: Store, caller: Caller, lastEventId: string | undefined): Promise<Cursor[]> {
  const followed = chainsOf(caller)
  const counts = lastEventId?.split('-').map(Number)
  if (lastEventId !== undefined && (!POSITION.test(lastEventId) || counts?.length !== followed.length))
    throw noPosition()
  const lengths = await store.lengths(followed.map(({ chain }) => chain))
  return Promise.all(followed.map((chain, i) => cursorAt(store, chain, lengths.get(chain.chain) ?? 0, counts?.[i])))
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
