import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { Approval } from '../../approvals/approval.ts'
import { isLane } from '../../audit/chain.ts'
import type { StoredEntry } from '../../audit/entry.ts'
import { boundedCache } from '../../base/bounded-cache.ts'
import type { EventGroup } from '../../keys/event-roles.ts'
import type { KillSwitch } from '../../killswitch/killswitch.ts'
import { applyChange, changeIn, type Records } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { entryView, SHOWN_SECTIONS } from '../audit/audit.ts'

/** Poll interval of followed chains: the delay of an event, beside the readers' turns. */
const POLL_MS = 50
/** Interval of the search for new lanes, which begin with a sidecar; and limit of the trails whose lanes are known. */
const LANES_MS = 1000
const MAX_TRAILS = 1000
/** Time for which readers at the same position share a batch, and the limit of shared batches. */
const SHARED_MS = 100
const MAX_SHARED = 32
/** Limits of a batch; other work runs after each. */
const BATCH = 50
const BATCH_BYTES = 256 * 1024
/** Entries of a chain in one search by the index of types. */
const WINDOW = 5000

/** An entry that callers may receive, read once for all of them. */
export interface ChainEvent {
  seq: number
  group: EventGroup
  id: string
  type: string
  timestamp: string
  /** As the audit chain shows it. */
  data: unknown
  /** The key that a decision was made for. */
  keyId: string | undefined
  /** The approval or stop as this entry left it; undefined when a part of it has been erased. */
  approval: Approval | undefined
  stop: KillSwitch | undefined
  /** The serialized event, by extent. */
  readonly serialized: Map<string, string>
}

export interface Batch {
  events: readonly ChainEvent[]
  /** All before this seq have been read. */
  end: number
}

/** The next range of a chain to read: entries of these types, first <= seq < length. */
interface Span {
  chain: string
  types: readonly string[]
  first: number
  length: number
}

interface Reading {
  /** Chains whose length is wanted at the next poll, and trails whose lanes are. */
  wanted: Set<string>
  trails: Set<string>
  lanes: ReturnType<typeof boundedCache<{ atMs: number; names: readonly string[] }>>
  look: Promise<ReadonlyMap<string, number>> | undefined
  batches: Map<string, Promise<Batch>>
  last: Promise<unknown>
}

/** The reading state of a store. */
const readings = new WeakMap<Store, Reading>()

function readingOf(store: Store): Reading {
  const known: Reading = readings.get(store) ?? {
    wanted: new Set<string>(),
    trails: new Set<string>(),
    lanes: boundedCache(MAX_TRAILS),
    look: undefined,
    batches: new Map(),
    last: Promise.resolve(),
  }
  readings.set(store, known)
  return known
}

/**
 * The lengths of these chains a moment from now, and of the lanes of a trail. Simultaneous callers share one poll, and
 * without callers there is none.
 */
export function nextLengths(
  store: Store,
  { chains, trail }: { chains: readonly string[]; trail: string | undefined },
): Promise<ReadonlyMap<string, number>> {
  const reading = readingOf(store)
  for (const chain of chains) reading.wanted.add(chain)
  if (trail !== undefined) reading.trails.add(trail)
  reading.look ??= sleep(POLL_MS).then(async () => {
    const [wanted, trails] = [[...reading.wanted], [...reading.trails]]
    reading.wanted.clear()
    reading.trails.clear()
    reading.look = undefined
    const lanes = await Promise.all(trails.map((one) => lanesOf(store, reading, one)))
    return store.lengths([...new Set([...wanted, ...lanes.flat()])])
  })
  return reading.look
}

/** Lanes of a trail, as of the last search. */
async function lanesOf(store: Store, { lanes }: Reading, trail: string): Promise<readonly string[]> {
  const known = lanes.get(trail)
  const nowMs = performance.now()
  if (known !== undefined && nowMs - known.atMs < LANES_MS) return known.names
  const names = (await store.lanes(trail)).filter(isLane)
  lanes.put(trail, { atMs: nowMs, names })
  return names
}

/**
 * One batch of events of these types, from `first` on. Readers run one after another, each in a turn of the event loop;
 * those at the same position share the batch.
 */
export function eventsFrom(store: Store, span: Span): Promise<Batch> {
  const reading = readingOf(store)
  // The length is left out: a longer chain is read on in the next batch.
  const name = `${span.chain} ${span.types.join()} ${span.first}`
  const mine = reading.last.then(() => {
    const known = reading.batches.get(name)
    if (known !== undefined) return known
    const batch = readBatch(store, span)
    share(reading.batches, name, batch)
    return batch
  })
  reading.last = mine.then(
    () => turn(),
    () => turn(),
  )
  return mine
}

function share(batches: Reading['batches'], name: string, batch: Promise<Batch>): void {
  const [oldest] = batches.keys()
  if (batches.size >= MAX_SHARED && oldest !== undefined) batches.delete(oldest)
  batches.set(name, batch)
  const forget = (): void => void batches.delete(name)
  batch.then(() => setTimeout(forget, SHARED_MS).unref(), forget)
}

async function readBatch(store: Store, span: Span): Promise<Batch> {
  const { types } = span
  const { entries, end } = await (types.includes('gate.decision') ? everything(store, span) : ofTypes(store, span))
  // Refreshed so that keys and stops are at least as new as the entries.
  await store.refresh()
  const events: ChainEvent[] = []
  for (const entry of entries) if (types.includes(entry.header.type)) events.push(await eventOf(store, entry))
  return { events, end }
}

interface Read {
  entries: readonly StoredEntry[]
  end: number
}

async function everything(store: Store, { chain, first, length }: Span): Promise<Read> {
  const limit = Math.min(BATCH, length - first)
  const part = { since: first, offset: 0, limit, sections: SHOWN_SECTIONS, maxBytes: BATCH_BYTES }
  const { items } = await store.page({ chain, order: 'asc', ...part })
  return { entries: items, end: (items.at(-1)?.header.seq ?? first + limit - 1) + 1 }
}

async function ofTypes(store: Store, { chain, types, first, length }: Span): Promise<Read> {
  const end = Math.min(first + WINDOW, length)
  const entries: StoredEntry[] = []
  let bytes = 0
  for (const seq of await store.seqsOfTypes(chain, types, { first, end })) {
    if (entries.length === BATCH || bytes > BATCH_BYTES) return { entries, end: seq }
    const entry = await store.entryAt(chain, seq)
    if (entry === undefined) continue
    entries.push(entry)
    bytes += entry.sections.reduce((sum, { json }) => sum + json.length, 0)
  }
  return { entries, end }
}

async function eventOf(store: Store, entry: StoredEntry): Promise<ChainEvent> {
  const { id, timestamp, eventType, seq, data, actor } = entryView(entry)
  // Only types of the table reach this line.
  const group = eventType.slice(0, eventType.indexOf('.')) as EventGroup
  return {
    seq,
    group,
    id,
    type: eventType,
    timestamp,
    data,
    keyId: group === 'gate' && typeof actor?.id === 'string' ? actor.id : undefined,
    approval: group === 'approval' ? await recordAt(store, 'approval', entry) : undefined,
    stop: group === 'killswitch' ? await recordAt(store, 'switch', entry) : undefined,
    serialized: new Map(),
  }
}

/** The record as this entry left it, by merging the changes up to there: the same at every reading. */
async function recordAt<K extends 'approval' | 'switch'>(
  store: Store,
  kind: K,
  entry: StoredEntry,
): Promise<Records[K] | undefined> {
  const change = changeIn(entry)
  let record: ReturnType<typeof applyChange> | undefined
  for (const earlier of change === undefined ? [] : await store.changesOf(kind, change.id)) {
    if (earlier.header.seq > entry.header.seq) break
    const data = changeIn(earlier)
    if (data === undefined) return undefined
    record = applyChange(record, data)
  }
  // The merge of a record's changes is the record.
  return record as Records[K] | undefined
}
