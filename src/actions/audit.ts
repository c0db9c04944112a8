import { type Static, Type } from '#typebox'
import { genesisHead, type Head, type StoredEntry } from '../audit/chain.ts'
import type { Actor } from '../audit/entry.ts'
import { isReservedType } from '../audit/events.ts'
import { type ChainFault, entryFault, headOf } from '../audit/verify.ts'
import { GateError } from '../base/errors.ts'
import { ACTION_PATTERN } from '../base/glob.ts'
import type { JsonObject } from '../base/json.ts'
import { DAY_MS, formatTimestamp, LAST_TIME_MS, parseDate } from '../base/time.ts'
import { AnyJsonObject, TenantIdField } from '../gate/request.ts'
import type { PageQuery, Store } from '../store.ts'
import { decidedOf } from './answer.ts'
import { type Caller, type Deps, decideAndCommit } from './deps.ts'
import { bindTo, earlierUse, type Idempotency } from './idempotency.ts'
import { PAGE_BYTES, pageGiven } from './page.ts'

const Day = Type.String({ format: 'date', description: 'YYYY-MM-DD, UTC' })
const Closed = { additionalProperties: false }

export const VerifyRequest = Type.Object(
  { tenantId: TenantIdField, startDate: Day, endDate: Day },
  { ...Closed, title: 'VerifyRequest' },
)
export const LogRequest = Type.Object(
  {
    tenantId: TenantIdField,
    eventType: Type.String({ pattern: ACTION_PATTERN }),
    data: AnyJsonObject,
    userId: Type.Optional(Type.String({ maxLength: 256 })),
  },
  { ...Closed, title: 'LogRequest' },
)
export type VerifyRequest = Static<typeof VerifyRequest>
export type LogRequest = Static<typeof LogRequest>

/** What is read at once to be verified. */
const VERIFY_BATCH = 200
const VERIFY_BYTES = 1024 * 1024
/** After this, others have their turn on the event loop. */
const VERIFY_SLICE_MS = 10

/** What `entryView` reads; above all not the request, which may be large and is never shown here. */
export const SHOWN_SECTIONS = ['actor', 'data', 'decision', 'grounds', 'risk']

/** An entry as `GET /audit/chain` shows it. */
export function entryView(entry: StoredEntry) {
  const { id, ts, type, seq, prev } = entry.header
  const decided = type === 'gate.decision' ? decidedOf(entry) : undefined
  const section = (name: string): JsonObject | null => {
    const found = entry.sections.find((candidate) => candidate.name === name)
    return found ? JSON.parse(found.json) : null
  }
  const data = decided ? decisionData(decided) : section('data')
  const actor = decided
    ? { kind: 'key', id: decided.grounds.caller.keyId, roles: decided.grounds.caller.roles }
    : section('actor')
  return { id, timestamp: ts, eventType: type, data, hash: entry.hash, seq, previousHash: prev, actor }
}

function decisionData({ decision, risk, grounds }: NonNullable<ReturnType<typeof decidedOf>>) {
  const { id, action, decision: outcome } = decision
  const { rule, reason, policyDigest } = grounds
  return { id, action, decision: outcome, rule, reason, riskScore: risk.score, policyDigest }
}

/**
 * A page of a chain. A page of large entries ends early: `limit` then says how many it has, so that
 * `offset + limit` is always where the next one starts.
 */
export async function auditChain(deps: Deps, query: PageQuery) {
  const { items, total } = await deps.store.page({ ...query, sections: SHOWN_SECTIONS, maxBytes: PAGE_BYTES })
  const { limit, offset } = query
  return { items: items.map(entryView), page: pageGiven({ limit, offset, total }, items.length) }
}

/**
 * Recomputes every entry of the days from `startDate` to `endDate`, and that the range joins what is
 * before and after it. An empty range is valid only if its neighbours follow one another.
 *
 * @throws GateError `invalid_request` when a date is no real day, or the range is backwards
 */
export async function verifyRange(deps: Deps, chain: string, { startDate, endDate }: VerifyRequest) {
  const start = dayOf('startDate', startDate)
  const end = dayOf('endDate', endDate)
  if (end < start)
    throw new GateError('invalid_request', 'endDate lies before startDate.', {
      details: [{ path: '/endDate', message: 'lies before startDate' }],
    })
  const to = formatTimestamp(Math.min(end + DAY_MS, LAST_TIME_MS))
  const { first, end: past } = await deps.store.seqRange(chain, formatTimestamp(start), to)
  return verifyEntries(deps.store, chain, first, past)
}

function dayOf(field: string, text: string): number {
  const ms = parseDate(text)
  if (ms !== undefined) return ms
  throw new GateError('invalid_request', `${field} must be a day such as 2026-01-31.`, {
    details: [{ path: `/${field}`, message: 'must be a real day, YYYY-MM-DD' }],
  })
}

export interface RangeVerification {
  valid: boolean
  /** Entries of the range that were found good. */
  entriesChecked: number
  /** Audit entry ids; empty for an empty range. */
  firstEntry: string
  lastEntry: string
  /** The first thing wrong, as a sentence; null when valid. */
  fault: string | null
  firstBadSeq: number | null
}

/**
 * Checks first <= seq < end, with the entries on both sides: the range must join them.
 *
 * @param onProgress called with the number of entries checked so far
 */
export async function verifyEntries(
  store: Store,
  chain: string,
  first: number,
  end: number,
  onProgress: (checked: number) => void = () => undefined,
): Promise<RangeVerification> {
  const ends = { firstEntry: '', lastEntry: '' }
  let checked = 0
  const result = (fault: ChainFault | undefined): RangeVerification => ({
    valid: fault === undefined,
    entriesChecked: checked,
    ...ends,
    fault: fault?.what ?? null,
    firstBadSeq: fault?.seq ?? null,
  })
  let previous: Head = genesisHead(store.origin, chain)
  if (first > 0) {
    const before = await store.entryAt(chain, first - 1)
    if (before === undefined) return result({ chain, seq: first - 1, what: `entry ${first - 1} is missing` })
    previous = headOf(before)
    const edge = entryFault(chain, { seq: first - 2, hash: before.header.prev, tsMs: 0 }, before)
    if (edge !== undefined) return result(edge)
  }
  // One entry past the range is read too: the range's last hash must be what it follows.
  let turn = performance.now()
  for (let seq = first; seq <= end; ) {
    const batch = await store.entriesFrom(chain, seq, Math.min(VERIFY_BATCH, end + 1 - seq), VERIFY_BYTES)
    for (const entry of batch) {
      if (performance.now() - turn > VERIFY_SLICE_MS) {
        await new Promise(setImmediate)
        turn = performance.now()
      }
      const fault = entryFault(chain, previous, entry)
      if (fault !== undefined) return result(fault)
      previous = headOf(entry)
      if (previous.seq >= end) continue
      checked += 1
      ends.firstEntry ||= entry.header.id
      ends.lastEntry = entry.header.id
    }
    if (previous.seq < end - 1 && batch.length === 0)
      return result({ chain, seq: previous.seq + 1, what: `entry ${previous.seq + 1} is missing` })
    if (batch.length === 0) break
    seq = previous.seq + 1
    onProgress(checked)
  }
  return result(undefined)
}

/** Writes a caller's own entry. @throws GateError `invalid_request` for a type that only the service writes */
export function logEntry(deps: Deps, caller: Caller, request: LogRequest, idempotency?: Idempotency) {
  const { eventType, data, userId } = request
  if (isReservedType(eventType)) {
    const message = `${eventType} is reserved for the service's own entries`
    throw new GateError('invalid_request', `${message}.`, { details: [{ path: '/eventType', message }] })
  }
  return decideAndCommit(deps.store, async () => {
    const earlier = await earlierUse(deps.store, caller, idempotency)
    const written = earlier && (await deps.store.entry(earlier.entryId))
    if (written !== undefined) return { submission: null, reply: async () => entryView(written) }
    const id = deps.newId('entry')
    const bound = bindTo(deps, caller, idempotency, earlier, id)
    const actor: Actor =
      caller.actor.kind === 'key' && userId !== undefined ? { ...caller.actor, claimedUserId: userId } : caller.actor
    return {
      submission: {
        guards: [{ kind: 'keyActive', keyId: caller.key.id }, ...bound.guards],
        writes: bound.writes,
        entries: [{ kind: 'event', id, chain: caller.chain, type: eventType, data, actor }],
      },
      reply: async () => {
        const entry = await deps.store.entry(id)
        if (entry === undefined) throw new Error('the entry that was committed is not there')
        return entryView(entry)
      },
    }
  })
}
