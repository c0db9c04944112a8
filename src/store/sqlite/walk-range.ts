import { isDeepStrictEqual } from 'node:util'
import { genesisHead, type Head } from '../../audit/chain.ts'
import { coverOf, coverRanges, GrowingTree, type Place, STORED_LEVELS } from '../../audit/merkle.ts'
import type { RangeStatus } from '../../audit/range.ts'
import { erasures, targetsOf } from '../../audit/redaction.ts'
import type { SealKey } from '../../audit/seal.ts'
import { type ChainFault, type Committed, type EntryCheck, entryFault, headOf } from '../../audit/verify.ts'
import { ChainWalk, type Mark } from '../../audit/walk.ts'
import { once } from '../../base/memo.ts'
import { quickVerifier } from '../../evidence/ed25519.ts'
import { headAfter, type Prune } from '../../evidence/prune.ts'
import { openCheckpoint } from '../../evidence/trust.ts'
import type { ChainRequest } from '../queries.ts'
import type { Row } from './chain-rows.ts'
import type { Connection } from './connection.ts'
import { type OfType, tallied } from './entries.ts'
import { genuinePrune } from './sound-entry.ts'

const PROGRESS_EVERY = 1000

export type Progress = (checked: number) => void

/** A request, with what only this process knows. */
export interface VerifyRequest extends ChainRequest {
  /** Key of the seals; undefined when the log key is not at hand. */
  sealKey: SealKey | undefined
  nowMs: number
}

export interface Work {
  connection: Connection
  origin: string
  request: VerifyRequest
  /** Number of entries of the chain. */
  length: number
  /** Record of what was pruned, or its fault; undefined when nothing was. It can be large, and is read once. */
  prune(): Prune | string | undefined
}

export function workOn(connection: Connection, origin: string, request: VerifyRequest): Work {
  const { chain, logKeys } = request
  const prune = once(() =>
    connection.pruned.size(chain) === 0 ? undefined : genuinePrune(connection, origin, chain, logKeys),
  )
  return { connection, origin, request, length: connection.entries.length(chain), prune }
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
export function walkRange(
  work: Work,
  found: Found,
  first: number,
  end: number,
  onProgress: Progress,
  onEntry: (row: Row) => void = () => undefined,
): Fault | undefined {
  const { connection, request, length } = work
  const { chain } = request
  const erased = erasedSections(work)
  const checkAt: CheckAt = (seq, committed) => ({
    sections: request.sections && committed,
    isErased: (name) => erased(seq, name),
  })
  const edge = leftEdge(work, first, checkAt)
  if ('fault' in edge) return edge.fault
  const tree = new GrowingTree(first, connection.checkpoints.hashes(chain, coverRanges(0, first)))
  const walk = new ChainWalk({ chain, head: edge, tree, marks: marksAround(work, first, end), ...nodes(work) })
  const begins = walk.begin()
  if (begins !== undefined) return begins
  // Reads one entry past the range too, since its link holds the range's last hash.
  const past = Math.min(Math.max(end, first) + 1, length)
  let seenPast = false
  const others = new Map<string, OfType>()
  for (const row of connection.rows.from(chain, { first, end: past }, request)) {
    const { entry, committed } = row
    const isPast = walk.head.seq + 1 >= end
    const check = checkAt(walk.head.seq + 1, committed)
    const fault = isPast ? entryFault(chain, walk.head, entry, check) : walk.step(entry, check)
    if (fault !== undefined) return fault
    seenPast = isPast
    if (isPast) break
    onEntry(row)
    found.checked += 1
    const { type, seq } = entry.header
    if (type !== 'gate.decision') others.set(type, tallied(others.get(type), seq))
    found.firstEntry ||= entry.header.id
    found.lastEntry = entry.header.id
    if (request.sections && committed.length < Object.keys(entry.header.commits).length) found.redacted += 1
    if (found.checked % PROGRESS_EVERY === 0) onProgress(found.checked)
  }
  onProgress(found.checked)
  const isComplete = walk.head.seq + 1 >= end
  if (isComplete && !isDeepStrictEqual(connection.entries.typesIndexed(chain, { first, end }), others))
    return {
      chain,
      seq: first,
      status: 'tampered',
      what: 'the index of the types of entries does not have each in its place',
    }
  const missing = walk.head.seq + 1
  if (missing < past && !seenPast)
    return { chain, seq: missing, status: 'broken-link', what: `entry ${missing} is missing` }
  const fault = passToMark(work, walk, Math.max(first, end))
  found.signed = walk.signedUpTo
  return fault
}

/** Head that the first entry of the range must follow: the genesis, or the verified entry before. */
function leftEdge(
  { connection, origin, request, prune }: Work,
  first: number,
  checkAt: CheckAt,
): Head | { fault: Fault } {
  const { chain } = request
  if (first === 0) return genesisHead(origin, chain)
  const fault = (status: RangeStatus, what: string, seq = first - 1) => ({ fault: { chain, seq, status, what } })
  if (first === connection.pruned.size(chain)) {
    const pruned = prune()
    if (typeof pruned === 'string') return fault('tampered', pruned, first)
    if (pruned !== undefined) return headAfter(pruned)
  }
  const [before] = connection.rows.from(chain, { first: first - 1, end: first })
  if (before === undefined) return fault('broken-link', `entry ${first - 1} is missing`)
  const { entry, committed } = before
  const follows = { seq: first - 2, hash: entry.header.prev, tsMs: 0 }
  const wrong = entryFault(chain, follows, entry, checkAt(first - 1, committed))
  return wrong === undefined ? headOf(entry) : { fault: wrong }
}

/**
 * Checkpoints up to the first one past the range. Each counts only when a log key has signed it for this chain, and no
 * entry is later than the end of that key; those of a revoked key alone are left out.
 */
function marksAround({ connection, origin, request }: Work, first: number, end: number): Mark[] {
  const { chain, logKeys, revoked } = request
  const verify = quickVerifier()
  const ended = logKeys.filter(({ publicKey }) => revoked.has(publicKey))
  const isByRevoked = (note: string): boolean => ended.length > 0 && openCheckpoint(note, ended, verify) !== undefined
  const marks = connection.checkpoints.around(chain, first, end).filter(({ note }) => !isByRevoked(note))
  return marks.map(({ size, note }) => ({
    size,
    root() {
      const opened = openCheckpoint(note, logKeys, verify)
      const isThis = opened?.origin === origin && opened.chain === chain && opened.size === size
      if (!isThis) return undefined
      const { until } = opened.key
      const newest = until === null ? undefined : connection.entries.withoutSections(chain, size - 1)
      return until !== null && newest !== undefined && newest.header.ts > until ? undefined : opened.root
    },
  }))
}

function nodes({ connection, request }: Work) {
  const { chain } = request
  const covered = connection.checkpoints.lastSize(chain)
  return {
    storedNode: ({ level, index }: Place) => connection.checkpoints.node(chain, level, index),
    isStored: ({ level, index }: Place) => level % STORED_LEVELS === 0 && (index + 1) * 2 ** level <= covered,
  }
}

/** Follows stored hashes from the end of the range to the first checkpoint past it. */
function passToMark({ connection, request, length }: Work, walk: ChainWalk, end: number): ChainFault | undefined {
  const [mark] = walk.marksAhead()
  if (mark === undefined || mark.size > length) return undefined
  const places = coverOf(end, mark.size)
  const hashes = connection.checkpoints.hashes(request.chain, coverRanges(end, mark.size))
  for (const [i, { level }] of places.entries()) {
    const hash = hashes[i]
    const fault = hash && walk.pass(hash, level)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Tells which sections commands erased, computed when the first one is missing. An altered entry erases nothing. */
function erasedSections({ connection, request }: Work): (seq: number, name: string) => boolean {
  const known = once(() => {
    const seqs = connection.entries.seqsOfTypes(request.chain, ['audit.redaction'])
    const targetsAt = (seq: number) => targetsOf(connection.rows.wholeData(request.chain, seq) ?? 'null')
    // A command erases only entries before its own.
    return erasures(seqs.flatMap((seq) => targetsAt(seq).filter(({ last }) => last < seq)))
  })
  return (seq, name) => known()(seq, name)
}
