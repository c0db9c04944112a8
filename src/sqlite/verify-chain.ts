import { genesisHead, type Head, SYSTEM_CHAIN } from '../audit/chain.ts'
import { GOOD_STATUSES, type RangeStatus, type RangeVerification } from '../audit/range.ts'
import { erasures, targetsOf } from '../audit/redaction.ts'
import { coverOf, coverRanges, GrowingTree, type Place, STORED_LEVELS } from '../audit/tree.ts'
import { unsignedTail } from '../audit/unsigned.ts'
import { type ChainFault, type Committed, type EntryCheck, entryFault, headOf } from '../audit/verify.ts'
import { ChainWalk, type Mark } from '../audit/walk.ts'
import { formatDigest } from '../base/digest.ts'
import { once } from '../base/memo.ts'
import { quickVerifier } from '../evidence/ed25519.ts'
import { openCheckpoint } from '../evidence/trust.ts'
import type { ChainRequest } from '../queries.ts'
import type { Connection } from './connection.ts'
import { MissingEntry } from './errors.ts'
import { genuinePrune, headAfter } from './sound-entry.ts'
import type { RecordedHead } from './system-heads.ts'

const PROGRESS_EVERY = 1000

type Progress = (checked: number) => void

interface Work {
  connection: Connection
  origin: string
  request: ChainRequest
  /** Entries of the chain. */
  length: number
}

/** What was found before something was wrong, or to the end. */
interface Found {
  checked: number
  firstEntry: string
  lastEntry: string
  redacted: number
  fault: Fault | undefined
}

/** What an entry with these sections is held to. */
type CheckAt = (seq: number, committed: readonly Committed[]) => EntryCheck

type Fault = Omit<ChainFault, 'status'> & { status: RangeStatus }

/**
 * Recomputes everything of a range: each entry, what joins it to its neighbours, the tree up to the first checkpoint past it,
 * the signatures of all checkpoints on the way; and whether the chain is as long as was signed, here or elsewhere.
 */
export function verifyChain(
  connection: Connection,
  origin: string,
  request: ChainRequest,
  onProgress: Progress = () => undefined,
): RangeVerification {
  const length = connection.entries.length(request.chain)
  const oldest = connection.pruned.size(request.chain)
  const work = { connection, origin, request, length }
  const { end = length } = request.range ?? {}
  const first = Math.max(request.range?.first ?? 0, oldest)
  const found: Found = { checked: 0, firstEntry: '', lastEntry: '', redacted: 0, fault: undefined }
  try {
    found.fault = walkRange(work, found, first, end, onProgress) ?? wholeFault(work)
  } catch (error) {
    if (!(error instanceof MissingEntry)) throw error
    found.fault = { chain: request.chain, seq: error.seq, status: 'broken-link', what: `entry ${error.seq} is missing` }
  }
  // The oldest entries can be pruned while others are read.
  if (found.fault !== undefined && connection.pruned.size(request.chain) !== oldest)
    return verifyChain(connection, origin, request, onProgress)
  return resultOf(found, Math.max(0, end - Math.max(first, request.anchoredSize)), end <= first)
}

function resultOf(found: Found, unanchored: number, isEmpty: boolean): RangeVerification {
  const status = found.fault?.status ?? (isEmpty ? 'empty' : unanchored > 0 ? 'unanchored' : 'ok')
  return {
    valid: GOOD_STATUSES.includes(status),
    status,
    entriesChecked: found.checked,
    firstEntry: found.firstEntry,
    lastEntry: found.lastEntry,
    fault: found.fault?.what ?? null,
    firstBadSeq: found.fault?.seq ?? null,
    redactedEntries: found.redacted,
    unanchoredEntries: unanchored,
  }
}

/** The entries first <= seq < end, and what is on both sides. @param found counts what is found good */
function walkRange(work: Work, found: Found, first: number, end: number, onProgress: Progress): Fault | undefined {
  const { connection, request, length } = work
  const { chain } = request
  const erased = erasedSections(work)
  const checkAt: CheckAt = (seq, committed) => ({
    sections: request.sections && committed,
    isErased: (name) => erased(seq, name),
  })
  const edge = leftEdge(work, first, checkAt)
  if ('fault' in edge) return edge.fault
  const tree = treeBefore(work, first)
  const walk = new ChainWalk({ chain, head: edge, tree, marks: marksAround(work, first, end), ...nodes(work) })
  const begins = walk.begin()
  if (begins !== undefined) return begins
  // One entry past the range is read too: the range's last hash must be what it follows.
  const past = Math.min(Math.max(end, first) + 1, length)
  let seenPast = false
  let others = 0
  for (const { entry, committed } of connection.rows.from(chain, first, past, request)) {
    const isPast = walk.head.seq + 1 >= end
    const check = checkAt(walk.head.seq + 1, committed)
    const fault = isPast ? entryFault(chain, walk.head, entry, check) : walk.step(entry, check)
    if (fault !== undefined) return fault
    seenPast = isPast
    if (isPast) break
    found.checked += 1
    if (entry.header.type !== 'gate.decision') others += 1
    found.firstEntry ||= entry.header.id
    found.lastEntry = entry.header.id
    if (request.sections && committed.length < Object.keys(entry.header.commits).length) found.redacted += 1
    if (found.checked % PROGRESS_EVERY === 0) onProgress(found.checked)
  }
  onProgress(found.checked)
  const isComplete = walk.head.seq + 1 >= end
  if (isComplete && connection.entries.countOthers(chain, { first, end }) !== others)
    return { chain, seq: first, status: 'tampered', what: 'the index of the types of entries does not have them all' }
  const missing = walk.head.seq + 1
  if (missing < past && !seenPast)
    return { chain, seq: missing, status: 'broken-link', what: `entry ${missing} is missing` }
  return passToMark(work, walk, Math.max(first, end))
}

/** What the first entry of the range must follow from: the genesis, or the entry before, if that is what it was. */
function leftEdge({ connection, origin, request }: Work, first: number, checkAt: CheckAt): Head | { fault: Fault } {
  const { chain } = request
  if (first === 0) return genesisHead(origin, chain)
  if (first === connection.pruned.size(chain)) {
    const prune = genuinePrune(connection, origin, chain, request.logKeys)
    if (typeof prune !== 'string') return headAfter(prune)
    return { fault: { chain, seq: first, status: 'tampered', what: prune } }
  }
  const fault = (status: RangeStatus, what: string) => ({ fault: { chain, seq: first - 1, status, what } })
  const [before] = connection.rows.from(chain, first - 1, first)
  if (before === undefined) return fault('broken-link', `entry ${first - 1} is missing`)
  const { entry, committed } = before
  const follows = { seq: first - 2, hash: entry.header.prev, tsMs: 0 }
  const wrong = entryFault(chain, follows, entry, checkAt(first - 1, committed))
  return wrong === undefined ? headOf(entry) : { fault: wrong }
}

function treeBefore({ connection, request }: Work, first: number): GrowingTree {
  return new GrowingTree(first, connection.checkpoints.hashes(request.chain, coverRanges(0, first)))
}

/** The checkpoints up to the first one past the range: what each says is true when one of the log keys has signed it for this chain. */
function marksAround({ connection, origin, request }: Work, first: number, end: number): Mark[] {
  const { chain, logKeys } = request
  const verify = quickVerifier()
  return connection.checkpoints.around(chain, first, end).map(({ size, note }) => ({
    size,
    root() {
      const opened = openCheckpoint(note, logKeys, verify)
      const isThis = opened?.origin === origin && opened.chain === chain && opened.size === size
      return isThis ? opened.root : undefined
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

/** From the end of the range to the first checkpoint past it, by what is stored. */
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

/** Tells which sections commands erased; found out when the first is missing. An entry that was altered erases nothing. */
function erasedSections({ connection, request }: Work): (seq: number, name: string) => boolean {
  const known = once(() => {
    const seqs = connection.entries.seqsOfTypes(request.chain, ['audit.redaction'])
    const targetsAt = (seq: number) => targetsOf(connection.rows.wholeData(request.chain, seq) ?? 'null')
    // Nothing is erased before it is there.
    return erasures(seqs.flatMap((seq) => targetsAt(seq).filter(({ last }) => last < seq)))
  })
  return (seq, name) => known()(seq, name)
}

/** Whether the whole chain is as long as was signed, and has the trees that `_system` and the newest anchor name. */
function wholeFault(work: Work): Fault | undefined {
  const { connection, origin, request, length } = work
  const { chain, anchor } = request
  const fault = (status: RangeStatus, seq: number, what: string) => ({ chain, seq, status, what })
  const signed = connection.checkpoints.lastSize(chain)
  const stray = connection.entries.first(chain)
  if (stray < connection.pruned.size(chain) && length > 0)
    return fault('tampered', stray, `entry ${stray} stands before the first one`)
  if (signed > length) return fault('truncated', length, `${signed} entries were signed, and there are ${length}`)
  const heads = connection.systemHeads.of(chain, connection.checkpoints.lastSize(SYSTEM_CHAIN))
  for (const recorded of heads) {
    const wrong = systemFault(work, recorded)
    if (wrong !== undefined) return wrong
    if (recorded.size > length)
      return fault('truncated', length, `_system records ${recorded.size} entries, and there are ${length}`)
  }
  if (anchor !== null && anchor.size > length)
    return fault('rollback', length, `an anchor holds ${anchor.size} entries, and there are ${length}`)
  const oldest = connection.pruned.size(chain)
  const prune = oldest === 0 ? undefined : genuinePrune(connection, origin, chain, request.logKeys)
  if (typeof prune === 'string') return fault('tampered', oldest, prune)
  const rootAt = (size: number): string | undefined => {
    if (size < oldest) return undefined
    const [root] = connection.checkpoints.hashes(chain, [{ begin: 0, end: size }])
    return root && formatDigest(root)
  }
  if (anchor !== null && anchor.size < oldest)
    return fault('pruned', oldest, `an anchor holds ${anchor.size} entries, which were pruned: they cannot be compared`)
  if (anchor !== null && (rootAt(anchor.size) ?? anchor.root) !== anchor.root)
    return fault('forked', 0, `an anchor holds other entries up to ${anchor.size - 1}`)
  for (const { size, root } of heads)
    if ((rootAt(size) ?? root) !== root) return fault('tampered', 0, `_system records other entries up to ${size - 1}`)
  const isTooMany = unsignedTail()
  for (const { entry } of connection.rows.from(chain, signed, length, { sections: false }))
    if (isTooMany(entry.header))
      return fault('tampered', signed, `entry ${signed} was signed once, and is not any more`)
  return undefined
}

/** What `_system` is held to where it says something of another chain: that it is what was signed there, to its end. */
function systemFault(work: Work, recorded: RecordedHead): Fault | undefined {
  const { connection, request } = work
  const length = connection.entries.length(SYSTEM_CHAIN)
  const signed = connection.checkpoints.lastSize(SYSTEM_CHAIN)
  if (signed > length)
    return { chain: SYSTEM_CHAIN, seq: length, status: 'truncated', what: `_system is shorter than was signed` }
  const chain = { ...request, chain: SYSTEM_CHAIN, sections: true }
  const found = { checked: 0, firstEntry: '', lastEntry: '', redacted: 0, fault: undefined }
  const end = recorded.seq < signed ? recorded.seq + 1 : length
  const fault = walkRange({ ...work, request: chain, length }, found, recorded.seq, end, () => undefined)
  return fault && { ...fault, what: `_system, which records this chain: ${fault.what}` }
}
