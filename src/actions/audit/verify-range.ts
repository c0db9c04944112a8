import * as Type from '#typebox'
import { genesisHead, type Head, inTrailOrder, isLane, trailOf } from '../../audit/chain.ts'
import type { StoredEntry } from '../../audit/entry.ts'
import type { RangeVerification } from '../../audit/range.ts'
import { entryFault, headOf } from '../../audit/verify.ts'
import { GateError } from '../../base/errors.ts'
import { DAY_MS, formatTimestamp, LAST_TIME_MS, parseDate } from '../../base/time.ts'
import type { Heads } from '../../evidence/anchor.ts'
import { headAfter } from '../../evidence/prune.ts'
import type { LogKey } from '../../evidence/trust.ts'
import { requestBody } from '../../gate/request.ts'
import type { SeqRange } from '../../store/queries.ts'
import type { Store } from '../../store/store.ts'
import type { Deps } from '../deps.ts'
import { missingSections } from './redactions.ts'

const Day = Type.String({ format: 'date', description: 'YYYY-MM-DD, UTC' })

export const Days = Type.Object({ startDate: Day, endDate: Day }, { additionalProperties: false })
export type Days = Type.Static<typeof Days>

export const VerifyRequest = requestBody('VerifyRequest', Days.properties)
export type VerifyRequest = Type.Static<typeof VerifyRequest>

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

/** The chains of a trail, with the entries of some days in each. */
type DayRanges = ReadonlyMap<string, SeqRange>

/**
 * Verifies the days from `startDate` to `endDate` of a trail, and their links to the entries around them, in each of its
 * chains.
 *
 * @throws GateError `invalid_request` when a date is not a calendar day, or the range is backwards
 */
export async function verifyRange(
  { store }: Pick<Deps, 'store'>,
  trail: string,
  days: Days,
  inputs: RangeInputs = {},
  onProgress?: (checked: number) => void,
): Promise<RangeVerification> {
  return verifyDays(store, days, await dayRanges(store, trail, days), inputs, onProgress)
}

/** Verifies days whose entries are known, as `verifyRange` does. @param signal ends the work, where a thread does it */
export async function verifyDays(
  store: Store,
  { startDate }: Pick<Days, 'startDate'>,
  ranges: DayRanges,
  inputs: RangeInputs,
  onProgress: (checked: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<RangeVerification> {
  const found: RangeVerification[] = []
  let checked = 0
  for (const [chain, range] of ranges) {
    const before = checked
    const verified = await verifySeqs(store, chain, range, inputs, (now) => onProgress(before + now), signal)
    checked += verified.entriesChecked
    const size = await prunedInto(store, chain, startDate)
    const fault = `the entries before ${size} were pruned`
    found.push(verified.valid && size !== undefined ? { ...verified, valid: false, status: 'pruned', fault } : verified)
  }
  return together(store, found)
}

/** The entries of the days from `startDate` to `endDate`, by chain. @throws GateError `invalid_request` as verifyRange */
export async function dayRanges(store: Store, trail: string, days: Days): Promise<DayRanges> {
  // A chain that is gone is known by what was signed.
  const lanes = (await store.chainsEver()).filter((chain) => isLane(chain) && trailOf(chain) === trail)
  const ranges = new Map<string, SeqRange>()
  for (const chain of [trail, ...lanes]) ranges.set(chain, await dayRange(store, chain, days))
  return ranges
}

/** The results of the chains of a trail as one. */
async function together(store: Store, all: readonly RangeVerification[]): Promise<RangeVerification> {
  const [first, ...others] = all
  if (first === undefined) throw new TypeError('a trail has a chain')
  if (others.length === 0) return first
  const worst = all.find(({ valid }) => !valid) ?? all.find(({ status }) => status === 'unanchored')
  const sum = (member: SummedMember): number => all.reduce((total, one) => total + one[member], 0)
  const ids = all.flatMap(({ firstEntry, lastEntry }) => [firstEntry, lastEntry]).filter((id) => id !== '')
  const entries = (await Promise.all(ids.map((id) => store.entry(id)))).filter((entry) => entry !== undefined)
  const inOrder = entries.map(({ header }) => header).sort(inTrailOrder)
  const { valid, status, fault, firstBadSeq, firstBadChain } = worst ?? all.find((one) => one.status === 'ok') ?? first
  return {
    ...{ valid, status, fault, firstBadSeq, firstBadChain },
    entriesChecked: sum('entriesChecked'),
    firstEntry: inOrder[0]?.id ?? '',
    lastEntry: inOrder.at(-1)?.id ?? '',
    unlawfulEntries: sum('unlawfulEntries'),
    redactedEntries: sum('redactedEntries'),
    unanchoredEntries: sum('unanchoredEntries'),
    unsignedEntries: sum('unsignedEntries'),
    signedEntries: sum('signedEntries'),
    anchoredEntries: sum('anchoredEntries'),
    sealed: all.some(({ sealed }) => sealed === null) ? null : all.every(({ sealed }) => sealed === true),
  }
}

type SummedMember = Exclude<
  { [K in keyof RangeVerification]: RangeVerification[K] extends number ? K : never }[keyof RangeVerification],
  'firstBadSeq'
>

/** The entries of the days from `startDate` to `endDate`. @throws GateError `invalid_request` as verifyRange */
export async function dayRange(store: Store, chain: string, { startDate, endDate }: Days): Promise<SeqRange> {
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
  range: SeqRange | undefined,
  inputs: RangeInputs = {},
  onProgress?: (checked: number) => void,
  signal?: AbortSignal,
): Promise<RangeVerification> {
  const { logKeys, revoked, anchors, sections = true, isPinned = false } = inputs
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
