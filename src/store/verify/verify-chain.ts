import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import type { RangeStatus, RangeVerification } from '../../audit/range.ts'
import type { Judged } from '../../audit/replay/judge.ts'
import { unsignedTail } from '../../audit/unsigned.ts'
import { formatDigest } from '../../base/digest.ts'
import { DAY_MS } from '../../base/time.ts'
import { CHAIN } from '../../evidence/note.ts'
import { AlteredFile, MissingEntry } from '../errors.ts'
import type { SeqRange } from '../queries.ts'
import type { RecordedHead } from '../records.ts'
import type { Source } from '../source.ts'
import { read, type Steps } from '../steps.ts'
import { eachRow } from './each-row.ts'
import { replayFrom } from './replay-chain.ts'
import { assertSealed, sealedBy } from './seals.ts'
import {
  type Fault,
  type Found,
  isOutdated,
  type Progress,
  type VerifyRequest,
  type Work,
  walkRange,
  workOn,
} from './walk-range.ts'

/**
 * Recomputes a whole range: each entry, its links, the tree up to the first checkpoint past it, and the signatures of
 * all checkpoints on the way.
 * Also requires the chain to be as long as was signed, here or elsewhere.
 */
export function* verifyChain(
  source: Source,
  origin: string,
  request: VerifyRequest,
  onProgress: Progress = () => undefined,
): Steps<RangeVerification> {
  const work = yield* workOn(source, origin, request)
  const { end = work.length } = request.range ?? {}
  const first = Math.max(request.range?.first ?? 0, work.oldest)
  // Without contents, nothing says what the entries record.
  const replayed = request.sections ? yield* replayFrom(source, request.chain, first) : undefined
  const found: Found = { checked: 0, firstEntry: '', lastEntry: '', redacted: 0, signed: 0, fault: undefined }
  try {
    found.fault =
      (yield* walkRange(work, found, first, end, onProgress, replayed?.step)) ?? (yield* wholeFault(work, found))
  } catch (error) {
    if (!(error instanceof MissingEntry)) throw error
    found.fault = { chain: request.chain, seq: error.seq, status: 'broken-link', what: `entry ${error.seq} is missing` }
  }
  const judged = replayed?.finish(found.fault === undefined && end === work.length)
  const unlawful = judged && unlawfulFault(request.chain, judged)
  // Altered entries come first: their record is not what happened.
  found.fault ??= unlawful
  // Entries were pruned or erased during the walk, so it starts again.
  if (found.fault !== undefined && (yield* isOutdated(work)))
    return yield* verifyChain(source, origin, request, onProgress)
  return { ...resultOf(found, request, { first, end }), unlawfulEntries: judged?.unlawfulEntries ?? 0 }
}

/** The first broken rule, in an operator's terms. */
function unlawfulFault(chain: string, { first, unlawfulEntries }: Judged): Fault | undefined {
  if (first === null) return undefined
  const more = unlawfulEntries > 1 ? `; ${unlawfulEntries - 1} more break rules` : ''
  return { chain, seq: first.seq, status: 'unlawful', what: `${first.what} (rule ${first.rule})${more}` }
}

function resultOf(
  found: Found,
  { anchoredSize, sealKey }: VerifyRequest,
  { first, end }: SeqRange,
): Omit<RangeVerification, 'unlawfulEntries'> {
  const beyond = (size: number): number => Math.max(0, end - Math.max(first, size))
  const unanchored = beyond(anchoredSize)
  const status = found.fault?.status ?? (end <= first ? 'empty' : unanchored > 0 ? 'unanchored' : 'ok')
  return {
    valid: found.fault === undefined,
    status,
    entriesChecked: found.checked,
    firstEntry: found.firstEntry,
    lastEntry: found.lastEntry,
    fault: found.fault?.what ?? null,
    firstBadSeq: found.fault?.seq ?? null,
    firstBadChain: found.fault?.chain ?? null,
    redactedEntries: found.redacted,
    unanchoredEntries: unanchored,
    unsignedEntries: beyond(found.signed),
    signedEntries: Math.min(end, found.signed),
    anchoredEntries: Math.min(end, anchoredSize),
    sealed: sealKey === undefined ? null : found.fault?.status !== 'unsealed',
  }
}

/**
 * Checks the length of the whole chain against what was signed, and its trees against `_system` and the newest anchor.
 */
function* wholeFault(work: Work, found: Found): Steps<Fault | undefined> {
  const { source, request } = work
  const { checkpoints, entries, pruned, systemHeads } = source
  const { chain, anchor } = request
  const fault = (status: RangeStatus, seq: number, what: string) => ({ chain, seq, status, what })
  if (!CHAIN.test(chain)) return fault('tampered', 0, 'the service has no chain of that name')
  const signed = yield* read(checkpoints.lastSize(chain))
  const heads = yield* read(systemHeads.of(chain, yield* read(checkpoints.lastSize(SYSTEM_CHAIN))))
  // Read after the signed sizes, since others append and sign meanwhile.
  const length = yield* read(entries.length(chain))
  const stray = yield* read(entries.first(chain))
  const oldest = yield* read(pruned.size(chain))
  if (stray < oldest && length > 0) return fault('tampered', stray, `entry ${stray} stands before the first one`)
  if (signed > length) return fault('truncated', length, `${signed} entries were signed, and there are ${length}`)
  for (const recorded of heads) {
    const wrong = yield* systemFault(work, recorded)
    if (wrong !== undefined) return wrong
    if (recorded.size > length)
      return fault('truncated', length, `_system records ${recorded.size} entries, and there are ${length}`)
  }
  if (anchor !== null && anchor.size > length)
    return fault('rollback', length, `an anchor holds ${anchor.size} entries, and there are ${length}`)
  if (typeof work.prune === 'string') return fault('tampered', oldest, work.prune)
  const rootAt = function* (size: number): Steps<string | undefined> {
    if (size < oldest) return undefined
    const [root] = yield* read(checkpoints.hashes(chain, [{ begin: 0, end: size }]))
    return root && formatDigest(root)
  }
  if (anchor !== null && anchor.size < oldest)
    return fault('pruned', oldest, `an anchor holds ${anchor.size} entries, which were pruned: they cannot be compared`)
  if (anchor !== null && ((yield* rootAt(anchor.size)) ?? anchor.root) !== anchor.root)
    return fault('forked', 0, `an anchor holds other entries up to ${anchor.size - 1}`)
  for (const { size, root } of heads)
    if (((yield* rootAt(size)) ?? root) !== root)
      return fault('tampered', 0, `_system records other entries up to ${size - 1}`)
  // A head and its checkpoint are written in one commit. Read again, since others sign meanwhile.
  const kept = yield* read(checkpoints.lastSize(chain))
  for (const { size } of heads)
    if (size > kept)
      return fault('tampered', kept, `_system records that ${size} entries were signed, and that checkpoint is missing`)
  return (
    (yield* unsignedFault(work, { first: signed, end: length })) ??
    (yield* sealFault(work)) ??
    (yield* ageFault(work, found))
  )
}

/** Requires the entries behind the newest checkpoint to be no more than a running service leaves unsigned. */
function* unsignedFault({ source, request: { chain } }: Work, range: SeqRange): Steps<Fault | undefined> {
  const isTooMany = unsignedTail()
  const what = `entry ${range.first} was signed before, and its signature is missing now`
  return yield* eachRow<Fault>(
    source,
    chain,
    range,
    { sections: false },
    {
      visit: ({ entry }) =>
        isTooMany(entry.header) ? { chain, seq: range.first, status: 'tampered', what } : undefined,
    },
  )
}

/** Requires the holder of the log key to have appended the newest entry. */
function* sealFault({ source, origin, request: { chain, sealKey } }: Work): Steps<Fault | undefined> {
  if (sealKey === undefined) return undefined
  // Others may append meanwhile: a new head comes with its seal.
  for (;;) {
    const head = yield* read(source.entries.head(chain))
    try {
      yield* assertSealed(source, origin, chain, head, sealedBy(sealKey))
      return undefined
    } catch (error) {
      if (!(error instanceof AlteredFile)) throw error
      const now = yield* read(source.entries.head(chain))
      if (now?.hash === head?.hash) return { chain, seq: head?.seq ?? 0, status: 'unsealed', what: UNSEALED }
    }
  }
}

const UNSEALED = 'the newest entry was not appended by the holder of the log key'

/** Without the log key at hand, only signatures show who appended entries, and those come within seconds. */
function* ageFault({ source, request, length }: Work, { signed }: Found): Steps<Fault | undefined> {
  const { chain, sealKey, nowMs, isPinned, range } = request
  if (isPinned && range === undefined && signed === 0 && length > 0)
    return { chain, seq: 0, status: 'unsigned', what: 'no checkpoint is by a log key that was given' }
  const oldest = sealKey === undefined ? yield* read(source.entries.withoutSections(chain, signed)) : undefined
  if (oldest === undefined || nowMs - Date.parse(oldest.header.ts) <= UNSIGNED_MS) return undefined
  return { chain, seq: signed, status: 'unsigned', what: `entry ${signed} has had no signature for over a day` }
}

/** Age up to which an entry may be unsigned where the log key is not at hand. */
const UNSIGNED_MS = DAY_MS

/** Verifies the entry of `_system` that records another chain, up to the end of what was signed there. */
function* systemFault({ source, origin, request }: Work, recorded: RecordedHead): Steps<Fault | undefined> {
  const signed = yield* read(source.checkpoints.lastSize(SYSTEM_CHAIN))
  const system = yield* workOn(source, origin, { ...request, chain: SYSTEM_CHAIN, sections: true })
  const { length } = system
  if (signed > length)
    return { chain: SYSTEM_CHAIN, seq: length, status: 'truncated', what: `_system is shorter than was signed` }
  const found = { checked: 0, firstEntry: '', lastEntry: '', redacted: 0, signed: 0, fault: undefined }
  const end = recorded.seq < signed ? recorded.seq + 1 : length
  const fault = yield* walkRange(system, found, recorded.seq, end, () => undefined)
  return fault && { ...fault, what: `_system, which records this chain: ${fault.what}` }
}
