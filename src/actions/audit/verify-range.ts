import { type Static, Type } from '#typebox'
import { genesisHead, type Head } from '../../audit/chain.ts'
import type { StoredEntry } from '../../audit/entry.ts'
import type { RangeVerification } from '../../audit/range.ts'
import { entryFault, headOf } from '../../audit/verify.ts'
import { GateError } from '../../base/errors.ts'
import { DAY_MS, formatTimestamp, LAST_TIME_MS, parseDate } from '../../base/time.ts'
import type { Heads } from '../../evidence/anchor.ts'
import { headAfter } from '../../evidence/prune.ts'
import type { LogKey } from '../../evidence/trust.ts'
import { requestBody } from '../../gate/request.ts'
import type { Store } from '../../store/store.ts'
import type { Deps } from '../deps.ts'
import { trustOf } from '../evidence/trust.ts'
import { missingSections } from './redactions.ts'

const Day = Type.String({ format: 'date', description: 'YYYY-MM-DD, UTC' })

export const Days = Type.Object({ startDate: Day, endDate: Day }, { additionalProperties: false })
export type Days = Static<typeof Days>

export const VerifyRequest = requestBody('VerifyRequest', Days.properties)
export type VerifyRequest = Static<typeof VerifyRequest>

/** External references that the entries are verified against, and options. */
export interface RangeInputs {
  /** False skips the content of entries. */
  sections?: boolean
  /** The keys whose signatures count; by default the log keys of this instance. */
  logKeys?: readonly LogKey[]
  /** Public keys that somebody else may hold; by default those that this instance has revoked. */
  revoked?: ReadonlySet<string>
  /** The caller gave the keys, which must have signed something of each chain. */
  isPinned?: boolean
  /** The newest anchored heads. */
  anchors?: Heads
}

/**
 * Verifies the days from `startDate` to `endDate`, and their links to the entries around them.
 *
 * @throws GateError `invalid_request` when a date is not a calendar day, or the range is backwards
 */
export async function verifyRange(
  deps: Deps,
  chain: string,
  days: Days,
  inputs: RangeInputs = {},
  onProgress?: (checked: number) => void,
): Promise<RangeVerification> {
  const range = await dayRange(deps.store, chain, days)
  return verifyDays(deps.store, chain, { ...days, range }, inputs, onProgress)
}

/** Verifies days whose entries are known, as `verifyRange` does. @param signal ends the work, where a thread does it */
export async function verifyDays(
  store: Store,
  chain: string,
  { startDate, range }: Pick<Days, 'startDate'> & { range: { first: number; end: number } },
  inputs: RangeInputs,
  onProgress?: (checked: number) => void,
  signal?: AbortSignal,
): Promise<RangeVerification> {
  const verified = await verifySeqs(store, chain, range, inputs, onProgress, signal)
  const size = await prunedInto(store, chain, startDate)
  if (!verified.valid || size === undefined) return verified
  return { ...verified, valid: false, status: 'pruned', fault: `the entries before ${size} were pruned` }
}

/** The entries of the days from `startDate` to `endDate`. @throws GateError `invalid_request` as verifyRange */
export async function dayRange(
  store: Store,
  chain: string,
  { startDate, endDate }: Days,
): Promise<{ first: number; end: number }> {
  const start = dayOf('startDate', startDate)
  const end = dayOf('endDate', endDate)
  if (end < start)
    throw new GateError('invalid_request', 'endDate lies before startDate.', {
      details: [{ path: '/endDate', message: 'lies before startDate' }],
    })
  const to = formatTimestamp(Math.min(end + DAY_MS, LAST_TIME_MS))
  return store.seqRange(chain, formatTimestamp(start), to)
}

/** The first seq of the chain, when entries of this day or a later one were pruned. */
export async function prunedInto(store: Store, chain: string, startDate: string): Promise<number | undefined> {
  const pruned = await store.pruned(chain)
  return pruned !== undefined && startDate <= pruned.lastTs ? pruned.size : undefined
}

/** Verifies first <= seq < end; without a range, the whole chain but for pruned entries. */
export async function verifySeqs(
  store: Store,
  chain: string,
  range: { first: number; end: number } | undefined,
  inputs: RangeInputs = {},
  onProgress?: (checked: number) => void,
  signal?: AbortSignal,
): Promise<RangeVerification> {
  const own = trustOf(store)
  const {
    logKeys = own.logKeys,
    revoked = new Set(own.revoked.keys()),
    anchors,
    sections = true,
    isPinned = false,
  } = inputs
  // The file's own record of its deliveries vouches for nothing.
  const anchor = anchors?.get(chain) ?? null
  const anchoredSize = anchor?.size ?? 0
  return store.verifyChain(
    { chain, range, sections, logKeys, revoked, isPinned, anchor, anchoredSize },
    onProgress,
    signal,
  )
}

function dayOf(field: string, text: string): number {
  const ms = parseDate(text)
  if (ms !== undefined) return ms
  throw new GateError('invalid_request', `${field} must be a day such as 2026-01-31.`, {
    details: [{ path: `/${field}`, message: 'must be a calendar day, YYYY-MM-DD' }],
  })
}

/** The fault in one entry's hash or in its links to its neighbours; null without one. */
export async function entryPlaceFault(store: Store, entry: StoredEntry): Promise<string | null> {
  const { chain, seq } = entry.header
  const follows = await headBefore(store, chain, seq)
  if (follows === undefined) return `entry ${seq - 1} is missing`
  const next = await store.entryAt(chain, seq + 1)
  const missing = await missingSections(store, entry)
  const isErased = (name: string): boolean => missing.some((section) => section.name === name && section.isRedacted)
  const own = entryFault(chain, follows, entry, { sections: true, isErased })
  const fault = own ?? (next && entryFault(chain, headOf(entry), next, { sections: false }))
  return fault?.what ?? null
}

/** The head before `seq`, pruned or not; undefined when that entry is missing. */
export async function headBefore(store: Store, chain: string, seq: number): Promise<Head | undefined> {
  if (seq === 0) return genesisHead(store.origin, chain)
  const before = await store.entryAt(chain, seq - 1)
  if (before !== undefined) return headOf(before)
  const pruned = await store.pruned(chain)
  return pruned?.size === seq ? headAfter(pruned) : undefined
}
