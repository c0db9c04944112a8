import { prepareEntry } from '../../audit/draft.ts'
import type { SealKey } from '../../audit/seal.ts'
import { GateError } from '../../base/errors.ts'
import type { Clock } from '../../base/time.ts'
import { coveringStop, type KillSwitch } from '../../killswitch/killswitch.ts'
import { unavailable } from '../errors.ts'
import type { knownHeads } from '../known-heads.ts'
import type { Memory } from '../memory.ts'
import type { Committed, Conflict, PreparedSubmission, Submission } from '../submission.ts'
import { groupsInTurn, inFront, isLarge, type Sized } from './next-group.ts'
import { groupPace } from './pace.ts'
import type { WriteReply, WriteRequest, WriteResult, Writer } from './writer.ts'

/** Pause before the next attempt to get a lock that another process holds. */
const BUSY_RETRY_MS = 5
/** Limit of the wait for the lock, after which a submission is refused. */
const BUSY_LIMIT_MS = 5000
const MAX_QUEUED = 10_000

interface Waiting extends Sized {
  submission: PreparedSubmission
  isAbandoned: (() => boolean) | undefined
  sinceMs: number
  resolve(result: Committed | Conflict): void
  reject(error: unknown): void
}

/** Store that the queue writes for. */
export interface QueueHost {
  writer: Writer
  clock: Clock
  memory(): Memory
  /** Stops in force that are not on disk yet. */
  imposed(): readonly KillSwitch[]
  /** Key of the seals, by the log key in use; undefined for a store without them. @throws GateError when it is not at hand */
  seal(): SealKey | undefined
  /** Takes in what another process wrote. */
  refresh(): void
  /** Ends of the chains that this process has written, and what was found about them. */
  heads: Pick<ReturnType<typeof knownHeads>, 'of' | 'written' | 'note'>
  /** Refreshes the state from the write, before any caller is answered. @throws when the file cannot be read */
  written(stateVersion: number): void
  /** Discards the connection after a COMMIT that may or may not be on disk. */
  discard(): void
}

/**
 * Group commit: submissions that arrive in one turn of the event loop, or while a group is written, share one
 * transaction and one fsync, and are answered after it.
 * Large submissions are written alone, and in turns with the rest, so that nobody waits for more than one of them.
 * Where a group is written and how long it waits, its pace says. While another process holds SQLite's lock, the group is
 * retried a little later. The queue is bounded by number here, and by bytes where requests are read.
 */
export function commitQueue(host: QueueHost) {
  let waiting: Waiting[] = []
  /** Number of waiting submissions, from the first on, that are being written. */
  let writing = 0
  let scheduled = false
  let busySinceMs: number | undefined
  let largeWrite: Promise<unknown> | undefined
  let regressed: ReadonlyMap<string, number> = new Map()
  const pace = groupPace(host.writer)
  const nextGroup = groupsInTurn()

  const schedule = (delayMs: number): void => {
    if (scheduled || writing > 0 || waiting.length === 0) return
    scheduled = true
    if (delayMs === 0) setImmediate(flush)
    else setTimeout(flush, delayMs)
  }

  const flush = async (): Promise<void> => {
    scheduled = false
    if (writing > 0) return
    waiting = withoutAbandoned(waiting)
    if (waiting.length === 0) return
    const group = nextGroup(waiting)
    waiting = inFront(group, waiting)
    const beganMs = performance.now()
    writing = group.length
    const asked = { regressed, isThreadBetter: pace.isThreadBetter(group) }
    const written = write(host, group, asked, busySinceMs !== undefined)
    largeWrite = group.some(isLarge) && written instanceof Promise ? written : undefined
    const reply = written instanceof Promise ? await written : written
    writing = 0
    if (reply.kind === 'busy') {
      busySinceMs ??= beganMs
      waiting = refuseOldest(waiting, busySinceMs)
      return schedule(BUSY_RETRY_MS)
    }
    busySinceMs = undefined
    pace.written(group, { tookMs: timeOf(reply, beganMs), isOvertaken: isOvertaken(reply) })
    if (reply.kind === 'written') regressed = reply.regressed
    const answered = reply.kind === 'failed' ? group : group.slice(0, reply.results.length)
    waiting = waiting.slice(answered.length)
    answer(host, answered, reply)
    // The thread has its next group before the callers of this one go on, which takes as long as half of a write.
    if (written instanceof Promise && pace.isNextDue(waiting)) void flush()
    else schedule(pace.delayMs())
  }

  return {
    submit(submission: Submission, isAbandoned?: () => boolean): Promise<Committed | Conflict> {
      return new Promise((resolve, reject) => {
        const item = waitingOf(submission, { isAbandoned, resolve, reject })
        enqueue(waiting, item, writing)
        const isFree = writing === 0 && busySinceMs === undefined
        if (isFree && pace.isDue(item, waiting.length)) void flush()
        else schedule(pace.delayMs())
      })
    },
    largeWrite: () => (writing > 0 ? largeWrite : undefined),
    idle: () => waiting.length === 0 && writing === 0,
  }
}

function write(
  host: QueueHost,
  group: readonly Waiting[],
  asked: Pick<WriteRequest, 'regressed' | 'isThreadBetter'>,
  isRepeated: boolean,
): WriteReply | Promise<WriteReply> {
  const failed = (error: unknown): WriteReply => ({
    kind: 'failed',
    cause: String(error),
    unknown: !(error instanceof GateError),
  })
  try {
    // The log key may have been rotated.
    if (isRepeated) host.refresh()
    const seal = host.seal()
    const submissions = group.map(({ submission }) => submission)
    const known = host.heads.of(submissions)
    const reply = host.writer.write({
      ...asked,
      submissions,
      memory: host.memory(),
      imposed: host.imposed(),
      known,
      nowMs: host.clock(),
      seal,
    })
    return reply instanceof Promise ? reply.catch(failed) : reply
  } catch (error) {
    return failed(error)
  }
}

/** A disk that hangs may fail in the end. */
function timeOf(reply: WriteReply, beganMs: number): number {
  return reply.kind === 'written' ? reply.tookMs : performance.now() - beganMs
}

/** True when others were allowed before a submission that counts them. */
function isOvertaken(reply: WriteReply): boolean {
  const isSo = (result: WriteResult): boolean => 'conflict' in result && result.conflict === 'noNewAllows'
  return reply.kind === 'written' && reply.results.some(isSo)
}

function waitingOf(
  { guards, writes, entries }: Submission,
  { isAbandoned, resolve, reject }: Pick<Waiting, 'isAbandoned' | 'resolve' | 'reject'>,
): Waiting {
  const prepared = entries.map(prepareEntry)
  let characters = 0
  for (const { sections } of prepared) for (const { json } of sections) characters += json.length
  const submission = { guards, writes, entries: prepared }
  const isUrgent = writes.some(({ kind }) => kind === 'switch') && !isLarge({ characters })
  return { submission, characters, isUrgent, isAbandoned, sinceMs: performance.now(), resolve, reject }
}

/**
 * Adds one with priority behind the first ones, which are being written, and others with priority.
 *
 * @throws GateError `overloaded` when too many wait
 */
function enqueue(waiting: Waiting[], item: Waiting, writing: number): void {
  if (waiting.length >= MAX_QUEUED) throw new GateError('overloaded', 'Too many requests wait for the audit store.')
  const at = goesFirst(item) ? waiting.findIndex((other, i) => i >= writing && !goesFirst(other)) : -1
  if (at < 0) waiting.push(item)
  else waiting.splice(at, 0, item)
}

/** True for a guard that forbids further allows. It has priority: earlier allows would fail it at each retry. */
function goesFirst({ submission }: Waiting): boolean {
  return submission.guards.some(({ kind }) => kind === 'noNewAllows')
}

/** Refuses the submissions that nobody waits for any longer, and returns the others. */
function withoutAbandoned(waiting: readonly Waiting[]): Waiting[] {
  return waiting.filter(({ isAbandoned, resolve }) => {
    const abandoned = isAbandoned?.() === true
    if (abandoned) resolve({ conflict: 'abandoned' })
    return !abandoned
  })
}

/** Refuses the submissions that have waited too long since the lock was first held, and returns the others. */
function refuseOldest(waiting: readonly Waiting[], busySinceMs: number): Waiting[] {
  const oldest = performance.now() - BUSY_LIMIT_MS
  const isTooOld = ({ sinceMs }: Waiting): boolean => Math.max(sinceMs, busySinceMs) < oldest
  for (const item of waiting) {
    if (isTooOld(item)) item.reject(new GateError('overloaded', 'Another process holds the audit store; try again.'))
  }
  return waiting.filter((item) => !isTooOld(item))
}

function answer(host: QueueHost, members: readonly Waiting[], reply: Exclude<WriteReply, { kind: 'busy' }>): void {
  try {
    if (reply.kind === 'failed') {
      if (reply.unknown) host.discard()
      throw new Error(reply.cause)
    }
    const placed = reply.results.flatMap((result) => ('entries' in result ? result.entries : []))
    host.heads.written(reply.heads, placed)
    host.written(reply.stateVersion)
    const imposed = host.imposed()
    for (const [i, member] of members.entries()) settle(host, member, reply.results[i], imposed)
  } catch (error) {
    for (const member of members) member.reject(unavailable('be written', error))
  }
}

function settle(
  { heads }: QueueHost,
  { submission, resolve, reject }: Waiting,
  result: WriteResult | undefined,
  imposed: readonly KillSwitch[],
) {
  if (result === undefined) throw new Error('the writer did not answer all')
  if ('fault' in result) {
    const { code, message, chain } = result.fault
    if (chain !== undefined) heads.note(chain, message)
    reject(code === null ? new TypeError(message) : new GateError(code, message))
  } else if (result.conflict === null && isStoppedBy(imposed, submission)) {
    // Once a stop is in force, nothing is allowed here, even when the allow is already in the chain.
    resolve({ conflict: 'notStopped' })
  } else {
    resolve(result)
  }
}

/** True for an allow that a stop overtook while it was written. */
function isStoppedBy(imposed: readonly KillSwitch[], { guards, entries }: PreparedSubmission): boolean {
  if (!entries.some(({ decision }) => decision?.decision === 'allow')) return false
  return guards.some((guard) => guard.kind === 'notStopped' && coveringStop(imposed, guard.subject) !== undefined)
}
