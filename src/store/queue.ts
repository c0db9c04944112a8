import type { SealKey } from '../audit/seal.ts'
import { GateError } from '../base/errors.ts'
import type { Clock } from '../base/time.ts'
import { coveringStop, type KillSwitch } from '../killswitch/killswitch.ts'
import { unavailable } from './errors.ts'
import type { knownHeads } from './known-heads.ts'
import type { Memory } from './memory.ts'
import { groupsInTurn, inFront, isLarge, type Pace } from './next-group.ts'
import type { Awaitable } from './steps.ts'
import type { Committed, Conflict, PreparedSubmission, Submission } from './submission.ts'
import { enqueue, refuseOldest, type Waiting, waitingOf, withoutAbandoned } from './waiting.ts'
import type { WriteReply, WriteRequest, WriteResult, Writer } from './writer.ts'

/** Pause before the next attempt to get a lock that another process holds. */
const BUSY_RETRY_MS = 5
/** Store that the queue writes for. */
export interface QueueHost {
  writer: Writer
  pace: Pace
  clock: Clock
  memory(): Memory
  /** Stops in force that are not on disk yet. */
  imposed(): readonly KillSwitch[]
  /** Key of the seals, by the log key in use; undefined for a store without them. @throws GateError when it is not at hand */
  seal(): SealKey | undefined
  /** Takes in what another process wrote. */
  refresh(): Awaitable<void>
  /** Ends of the chains that this process has written, and what was found about them. */
  heads: Pick<ReturnType<typeof knownHeads>, 'of' | 'written' | 'note'>
  /** Refreshes the state from the write, before any caller is answered. @throws when the file cannot be read */
  written(stateVersion: number): Awaitable<void>
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
  const { pace } = host
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
    const answering = answer(host, answered, reply)
    if (answering instanceof Promise) await answering
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
): Awaitable<WriteReply> {
  const failed = (error: unknown): WriteReply => ({
    kind: 'failed',
    cause: String(error),
    unknown: !(error instanceof GateError),
  })
  const writeNow = (): Awaitable<WriteReply> => {
    const submissions = group.map(({ submission }) => submission)
    return host.writer.write({
      ...asked,
      submissions,
      memory: host.memory(),
      imposed: host.imposed(),
      known: host.heads.of(submissions),
      nowMs: host.clock(),
      seal: host.seal(),
    })
  }
  try {
    // The log key may have been rotated.
    const refreshing = isRepeated ? host.refresh() : undefined
    const reply = refreshing instanceof Promise ? refreshing.then(writeNow) : writeNow()
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

/** A promise where the state is refreshed from a server first. */
function answer(
  host: QueueHost,
  members: readonly Waiting[],
  reply: Exclude<WriteReply, { kind: 'busy' }>,
): Awaitable<void> {
  const refuse = (error: unknown): void => {
    for (const member of members) member.reject(unavailable('be written', error))
  }
  try {
    if (reply.kind === 'failed') {
      if (reply.unknown) host.discard()
      throw new Error(reply.cause)
    }
    const { results } = reply
    const placed = results.flatMap((result) => ('entries' in result ? result.entries : []))
    host.heads.written(reply.heads, placed)
    const refreshing = host.written(reply.stateVersion)
    const settleAll = (): void => {
      for (const [i, member] of members.entries()) settle(host, member, results[i])
    }
    return refreshing instanceof Promise ? refreshing.then(settleAll).catch(refuse) : settleAll()
  } catch (error) {
    refuse(error)
  }
}

function settle({ heads, imposed }: QueueHost, { submission, resolve, reject }: Waiting, result?: WriteResult): void {
  if (result === undefined) throw new Error('the writer did not answer all')
  if ('fault' in result) {
    const { code, message, chain } = result.fault
    if (chain !== undefined) heads.note(chain, message)
    reject(code === null ? new TypeError(message) : new GateError(code, message))
  } else if (result.conflict === null && isStoppedBy(imposed(), submission)) {
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
