import { inTrailOrder } from '../../audit/chain.ts'
import { type StoredEntry, sectionValue } from '../../audit/entry.ts'
import { type Glob, globMatches } from '../../base/glob.ts'
import { formatTimestamp, LAST_TIME_MS } from '../../base/time.ts'
import type { Part, RecordedEntry, StoodApproval } from '../../replay/recorded.ts'
import type { SeqRange } from '../../store/queries.ts'
import type { Store } from '../../store/store.ts'

/** Limits of one batch: 3 ms of reading. */
const BATCH = 100
const BATCH_BYTES = 256 * 1024

/** Decisions of a trail to be replayed: `fromMs` included, `toMs` excluded. */
export interface ReplayRange {
  trail: string
  fromMs: number
  toMs: number
  action?: Glob | undefined
  /** Decides about this number of requests only, evenly spread over the range. */
  sample?: number | undefined
}

interface Lane extends SeqRange {
  chain: string
  next: number
  ahead: StoredEntry[]
}

/** Decisions of a part of the trail, with the number of entries read so far. */
interface Batch {
  entries: RecordedEntry[]
  read: number
}

export interface Reading {
  /** Entries to be read. */
  total: number
  batches(): AsyncGenerator<Batch>
}

/** The decisions of a trail in its order, from `sinceMs` on, which is not later than the range. */
export async function decisionsIn(store: Store, range: ReplayRange, sinceMs: number): Promise<Reading> {
  const lanes: Lane[] = []
  for (const chain of await store.lanes(range.trail)) {
    const { first, end } = await store.seqRange(chain, timeOf(sinceMs), timeOf(range.toMs))
    lanes.push({ chain, first, end, next: first, ahead: [] })
  }
  const total = lanes.reduce((sum, { first, end }) => sum + Math.max(0, end - first), 0)
  const inRange = await entriesIn(store, lanes, range)
  return { total, batches: () => batchesOf(store, lanes, partsOf(range, inRange)) }
}

function timeOf(ms: number): string {
  return formatTimestamp(Math.min(Math.max(ms, 0), LAST_TIME_MS))
}

async function entriesIn(store: Store, lanes: readonly Lane[], { fromMs }: ReplayRange): Promise<number> {
  let sum = 0
  for (const { chain, end } of lanes) sum += Math.max(0, end - (await store.seqNotBefore(chain, timeOf(fromMs))))
  return sum
}

async function* batchesOf(store: Store, lanes: readonly Lane[], partOf: PartOf): AsyncGenerator<Batch> {
  let read = 0
  for (let done = false; !done; ) {
    const entries: RecordedEntry[] = []
    let size = 0
    for (let i = 0; i < BATCH && size < BATCH_BYTES; i += 1) {
      const entry = await nextOf(store, lanes)
      done = entry === undefined
      if (entry === undefined) break
      read += 1
      const recorded = await recordedEntry(store, entry, partOf)
      size += recorded?.request?.length ?? 0
      if (recorded !== undefined) entries.push(recorded)
    }
    yield { entries, read }
  }
}

/** The next entry of any lane, in the order of trails. */
async function nextOf(store: Store, lanes: readonly Lane[]): Promise<StoredEntry | undefined> {
  let first: Lane | undefined
  for (const lane of lanes) {
    if (lane.ahead.length === 0 && lane.next < lane.end) {
      lane.ahead = await store.entriesFrom(lane.chain, lane.next, Math.min(BATCH, lane.end - lane.next), BATCH_BYTES)
      lane.next = (lane.ahead.at(-1)?.header.seq ?? lane.end) + 1
    }
    const [entry] = lane.ahead
    const [known] = first?.ahead ?? []
    if (entry !== undefined && (known === undefined || inTrailOrder(entry.header, known.header) < 0)) first = lane
  }
  return first?.ahead.shift()
}

type PartOf = (entry: StoredEntry) => Part | undefined

/** Tells the part of each entry, given in their order; undefined for one without a decision. */
function partsOf({ fromMs, action, sample }: ReplayRange, inRange: number): PartOf {
  const every = sample === undefined ? 1 : Math.max(1, inRange / sample)
  let [position, due] = [0, 0]
  return (entry) => {
    const isBefore = Date.parse(entry.header.ts) < fromMs
    if (!isBefore) position += 1
    if (entry.header.type !== 'gate.decision') return undefined
    if (isBefore) return 'before'
    if (position <= due) return 'leftOut'
    if (action !== undefined && !globMatches(action, String(sectionValue(entry, 'decision')?.action))) return 'leftOut'
    due = position - 1 + every
    return 'reported'
  }
}

/** The decision of an entry; undefined for another entry. */
async function recordedEntry(store: Store, entry: StoredEntry, partOf: PartOf): Promise<RecordedEntry | undefined> {
  const { chain, seq, ts } = entry.header
  const part = partOf(entry)
  if (part === undefined) return undefined
  const text = (name: string): string | undefined => entry.sections.find((section) => section.name === name)?.json
  const [decision, grounds, risk, request] = ['decision', 'grounds', 'risk', 'request'].map(text)
  if (decision === undefined || grounds === undefined || risk === undefined) return undefined
  const tsMs = Date.parse(ts)
  const approval = part === 'before' ? undefined : await stoodApproval(store, entry, grounds)
  return { part, chain, seq, tsMs, decision, grounds, risk, request, approval }
}

/** In canonical JSON a quote within a text is escaped, so this is the member. */
const BY_APPROVAL = '"decidedBy":"approval"'

async function stoodApproval(store: Store, entry: StoredEntry, grounds: string): Promise<StoodApproval | undefined> {
  if (!grounds.includes(BY_APPROVAL)) return undefined
  const id = sectionValue(entry, 'grounds')?.approvalId
  const approval = typeof id === 'string' ? await store.approval(id) : undefined
  if (approval === undefined) return undefined
  const { digest, requestedBy, requestedByKey, votes } = approval
  return { digest, requestedBy, requestedByKey, votes }
}
