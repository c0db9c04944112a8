import { isDeepStrictEqual } from 'node:util'
import { genesisHead, type Head } from '../../audit/chain.ts'
import { coverOf, coverRanges, GrowingTree, type Hash, type Place, STORED_LEVELS } from '../../audit/merkle.ts'
import type { RangeStatus } from '../../audit/range.ts'
import { erasures, type RedactionTarget, targetsOf } from '../../audit/redaction.ts'
import type { SealKey } from '../../audit/seal.ts'
import { type ChainFault, type Committed, type EntryCheck, entryFault, headOf } from '../../audit/verify.ts'
import { ChainWalk, type Mark } from '../../audit/walk.ts'
import { formatTimestamp } from '../../base/time.ts'
import { quickVerifier } from '../../evidence/ed25519.ts'
import { headAfter, type Prune } from '../../evidence/prune.ts'
import { type LogKey, openCheckpoint } from '../../evidence/trust.ts'
import type { ChainRequest, SeqRange } from '../queries.ts'
import { type OfType, type Row, type Source, tallied } from '../source.ts'
import { read, type Steps } from '../steps.ts'
import { eachRow } from './each-row.ts'
import { lossesOf } from './replay-chain.ts'
import { genuinePrune } from './sound-entry.ts'

const PROGRESS_EVERY = 1000

export type Progress = (checked: number) => void

/** A request, with what only this process knows. */
export interface VerifyRequest extends ChainRequest {
  logKeys: readonly LogKey[]
  revoked: ReadonlySet<string>
  /** Key of the seals; undefined when the log key is not at hand. */
  sealKey: SealKey | undefined
  nowMs: number
}

export interface Work {
  source: Source
  origin: string
  request: VerifyRequest
  /** Number of entries of the chain. */
  length: number
  /** First entry of the chain: those before were pruned. */
  oldest: number
  /** Record of what was pruned, or its fault; undefined when nothing was. */
  prune: Prune | string | undefined
  /** Numbers of pruned entries and of erasures, of the chains that are read. */
  losses: readonly number[]
}

export function* workOn(source: Source, origin: string, request: VerifyRequest): Steps<Work> {
  const { chain, logKeys } = request
  // First: what is lost after it is noticed.
  const losses = yield* lossesOf(source, chain)
  const oldest = yield* read(source.pruned.size(chain))
  const prune = oldest === 0 ? undefined : yield* genuinePrune(source, origin, chain, logKeys)
  return { source, origin, request, length: yield* read(source.entries.length(chain)), oldest, prune, losses }
}

/** True when entries were pruned or erased since the work began. */
export function* isOutdated({ source, request: { chain }, losses }: Work): Steps<boolean> {
  return !isDeepStrictEqual(yield* lossesOf(source, chain), losses)
}

/** Tally of good entries, up to the first fault or the end. */
export interface Found {
  checked: number
  firstEntry: string
  lastEntry: string
  redacted: number
  /** Number of entries up to the newest good checkpoint of the walk. */
  signed: number
  fault: Fault | undefined
}

/** Makes the check of an entry with these sections. */
type CheckAt = (seq: number, committed: readonly Committed[]) => EntryCheck

export type Fault = Omit<ChainFault, 'status'> & { status: RangeStatus }

/**
 * Verifies the entries first <= seq < end, and their links on both sides.
 *
 * @param found counts the good entries
 * @param onEntry receives each good entry
 */
export function* walkRange(
  work: Work,
  found: Found,
  first: number,
  end: number,
  onProgress: Progress,
  onEntry: (row: Row) => void = () => undefined,
): Steps<Fault | undefined> {
  const { source, request, length } = work
  const { chain } = request
  const { checkpoints, entries } = source
  const erased = yield* erasedSections(work)
  const checkAt: CheckAt = (seq, committed) => ({
    sections: request.sections && committed,
    isErased: (name) => erased(seq, name),
  })
  const edge = yield* leftEdge(work, first, checkAt)
  if ('fault' in edge) return edge.fault
  const tree = new GrowingTree(first, yield* read(checkpoints.hashes(chain, coverRanges(0, first))))
  const marks = yield* marksAround(work, first, end, () => walk.head)
  const nodes = yield* storedNodes(work)
  const walk = new ChainWalk({ chain, head: edge, tree, marks, ...nodes })
  const begins = walk.begin()
  if (begins !== undefined) return begins
  // Reads one entry past the range too, since its link holds the range's last hash.
  const past = Math.min(Math.max(end, first) + 1, length)
  let seenPast = false
  const others = new Map<string, OfType>()
  const visit = (row: Row): { fault: Fault | undefined } | undefined => {
    const { entry, committed } = row
    const isPast = walk.head.seq + 1 >= end
    const check = checkAt(walk.head.seq + 1, committed)
    const fault = isPast ? entryFault(chain, walk.head, entry, check) : walk.step(entry, check)
    if (fault !== undefined) return { fault }
    seenPast = isPast
    if (isPast) return { fault: undefined }
    onEntry(row)
    countGood(found, row, request)
    const { type, seq } = entry.header
    if (type !== 'gate.decision') others.set(type, tallied(others.get(type), seq))
    if (found.checked % PROGRESS_EVERY === 0) onProgress(found.checked)
    return undefined
  }
  const ended = yield* eachRow(source, chain, { first, end: past }, request, { visit, before: nodes.load })
  if (ended?.fault !== undefined) return ended.fault
  onProgress(found.checked)
  const isComplete = walk.head.seq + 1 >= end
  if (isComplete && !isDeepStrictEqual(yield* read(entries.typesIndexed(chain, { first, end })), others))
    return {
      chain,
      seq: first,
      status: 'tampered',
      what: 'the index of the types of entries does not have each in its place',
    }
  const missing = walk.head.seq + 1
  if (missing < past && !seenPast)
    return { chain, seq: missing, status: 'broken-link', what: `entry ${missing} is missing` }
  const fault = yield* passToMark(work, walk, nodes, Math.max(first, end))
  found.signed = walk.signedUpTo
  return fault
}

function countGood(found: Found, { entry: { header }, committed }: Row, { sections }: VerifyRequest): void {
  found.checked += 1
  found.firstEntry ||= header.id
  found.lastEntry = header.id
  if (sections && committed.length < Object.keys(header.commits).length) found.redacted += 1
}

/** Head that the first entry of the range must follow: the genesis, or the verified entry before. */
function* leftEdge(
  { source, origin, request, oldest, prune }: Work,
  first: number,
  checkAt: CheckAt,
): Steps<Head | { fault: Fault }> {
  const { chain } = request
  if (first === 0) return genesisHead(origin, chain)
  const fault = (status: RangeStatus, what: string, seq = first - 1) => ({ fault: { chain, seq, status, what } })
  if (first === oldest) {
    if (typeof prune === 'string') return fault('tampered', prune, first)
    if (prune !== undefined) return headAfter(prune)
  }
  const [before] = yield* read(source.rows.read(chain, { first: first - 1, end: first }))
  if (before === undefined) return fault('broken-link', `entry ${first - 1} is missing`)
  const { entry, committed } = before
  const follows = { seq: first - 2, hash: entry.header.prev, tsMs: 0 }
  const wrong = entryFault(chain, follows, entry, checkAt(first - 1, committed))
  return wrong === undefined ? headOf(entry) : { fault: wrong }
}

/**
 * Checkpoints up to the first one past the range. Each counts only when a log key has signed it for this chain, and no
 * entry is later than the end of that key; those of a revoked key alone are left out.
 *
 * @param head the newest entry of the walk, at a mark
 */
function* marksAround({ source, origin, request }: Work, first: number, end: number, head: () => Head): Steps<Mark[]> {
  const { chain, logKeys, revoked } = request
  const verify = quickVerifier()
  const ended = logKeys.filter(({ publicKey }) => revoked.has(publicKey))
  const isByRevoked = (note: string): boolean => ended.length > 0 && openCheckpoint(note, ended, verify) !== undefined
  const around = yield* read(source.checkpoints.around(chain, first, end))
  const counted = around.filter(({ note }) => !isByRevoked(note))
  // The walk comes by the newest entry of each mark, but for one past its end.
  const last = counted.at(-1)?.size ?? 0
  const lastEntry = last === 0 ? undefined : yield* read(source.entries.withoutSections(chain, last - 1))
  return counted.map(({ size, note }) => ({
    size,
    root() {
      const opened = openCheckpoint(note, logKeys, verify)
      const isThis = opened?.origin === origin && opened.chain === chain && opened.size === size
      if (!isThis) return undefined
      const { until } = opened.key
      const newest = size === last ? lastEntry?.header.ts : formatTimestamp(head().tsMs)
      return until !== null && newest !== undefined && newest > until ? undefined : opened.root
    },
  }))
}

/** Stored nodes of the tree, read in parts as the walk comes by their entries. */
function* storedNodes({ source: { checkpoints }, request: { chain } }: Work) {
  const covered = yield* read(checkpoints.lastSize(chain))
  let known = new Map<string, Hash>()
  return {
    *load(part: SeqRange): Steps<void> {
      const nodes = yield* read(checkpoints.nodesIn(chain, part))
      known = new Map(nodes.map((node) => [nameOf(node), node.hash]))
    },
    storedNode: (place: Place) => known.get(nameOf(place)),
    isStored: ({ level, index }: Place) => level % STORED_LEVELS === 0 && (index + 1) * 2 ** level <= covered,
  }
}

const nameOf = ({ level, index }: Place): string => `${level} ${index}`

/** Follows stored hashes from the end of the range to the first checkpoint past it. */
function* passToMark(
  { source: { checkpoints }, request: { chain }, length }: Work,
  walk: ChainWalk,
  nodes: { load(part: SeqRange): Steps<void> },
  end: number,
): Steps<ChainFault | undefined> {
  const [mark] = walk.marksAhead()
  if (mark === undefined || mark.size > length) return undefined
  yield* nodes.load({ first: end, end: mark.size })
  const places = coverOf(end, mark.size)
  const hashes = yield* read(checkpoints.hashes(chain, coverRanges(end, mark.size)))
  for (const [i, { level }] of places.entries()) {
    const hash = hashes[i]
    const fault = hash && walk.pass(hash, level)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Tells which sections commands erased. An altered entry erases nothing. */
function* erasedSections({ source, request }: Work): Steps<(seq: number, name: string) => boolean> {
  const { chain } = request
  const targets: RedactionTarget[] = []
  for (const seq of yield* read(source.entries.seqsOfTypes(chain, ['audit.redaction']))) {
    const data = yield* read(source.rows.wholeData(chain, seq))
    // A command erases only entries before its own.
    targets.push(...targetsOf(data ?? 'null').filter(({ last }) => last < seq))
  }
  return erasures(targets)
}
