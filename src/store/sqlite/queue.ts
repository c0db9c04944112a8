import { prepareEntry } from '../../audit/entry.ts'
import { GateError } from '../../base/errors.ts'
import type { Clock } from '../../base/time.ts'
import { coveringStop, type KillSwitch } from '../../killswitch/killswitch.ts'
import type { Committed, Conflict, Submission } from '../submission.ts'
import type { PreparedSubmission } from './commit.ts'
import { unavailable } from './errors.ts'
import { writeTime } from './write-time.ts'
import type { WriteReply, WriteResult, Writer } from './writer.ts'

/** Pause before asking again for a lock that another process holds. */
const BUSY_RETRY_MS = 5
/** A submission that has waited this long for the lock is refused. */
const BUSY_LIMIT_MS = 5000
const MAX_QUEUED = 10_000
const MAX_GROUP = 200
/** Of the texts of a group's entries together: it may be sent to a thread. */
const MAX_GROUP_CHARACTERS = 4_000_000
/** How long a group waits for company when writing is slow: a share of a write, and at most. */
const BATCH_DELAY_SHARE = 0.25
const BATCH_DELAY_LIMIT_MS = 25

type Result = Committed | Conflict

interface Waiting {
  submission: PreparedSubmission
  sinceMs: number
  resolve(result: Result): void
  reject(error: unknown): void
}

/** What the queue works on. */
export interface QueueHost {
  writer: Writer
  clock: Clock
  /** Stops that are in force and not on disk yet. */
  imposed(): readonly KillSwitch[]
  /** Takes in what was written, before anybody is answered. @throws when the file cannot be read */
  written(stateVersion: number): void
  /** After a COMMIT of which it is not known whether it is on disk. */
  discard(): void
}

/**
 * Group commit: what has arrived when the event loop turns, or while a group was written, shares one transaction and one
 * fsync, and is answered after it. A group does not wait for company, unless the disk is slow: then those who were just
 * answered would ask again right after the next group had left. When another process holds SQLite's lock, the group is tried
 * again a little later. What can wait is bounded by number here, and by bytes where requests are read.
 */
export function commitQueue(host: QueueHost) {
  let waiting: Waiting[] = []
  /** How many of those waiting, from the first on, are being written. */
  let writing = 0
  let scheduled = false
  let alone = true
  let busySinceMs: number | undefined
  let regressed: ReadonlySet<string> = new Set()
  const time = writeTime()

  const schedule = (delayMs: number): void => {
    if (scheduled || writing > 0) return
    scheduled = true
    const begin = (): void => {
      scheduled = false
      void flush()
    }
    if (delayMs === 0) setImmediate(begin)
    else setTimeout(begin, delayMs)
  }

  const batchDelayMs = (): number =>
    alone || !time.isSlow() ? 0 : Math.min(time.ms() * BATCH_DELAY_SHARE, BATCH_DELAY_LIMIT_MS)

  const flush = async (): Promise<void> => {
    const group = firstGroup(waiting)
    const submissions = group.map(({ submission }) => submission)
    const sinceMs = performance.now()
    writing = group.length
    const reply = await host.writer
      .write({ submissions, imposed: host.imposed(), regressed, nowMs: host.clock() })
      .catch((error): WriteReply => ({ kind: 'failed', cause: String(error), unknown: true }))
    writing = 0
    if (reply.kind === 'busy') {
      busySinceMs ??= sinceMs
      waiting = refuseOldest(waiting, busySinceMs)
      if (waiting.length > 0) schedule(BUSY_RETRY_MS)
      return
    }
    busySinceMs = undefined
    time.since(sinceMs)
    alone = group.length === 1
    if (reply.kind === 'written') regressed = reply.regressed
    const answered = reply.kind === 'failed' ? group : group.slice(0, reply.results.length)
    waiting = waiting.slice(answered.length)
    answer(host, answered, reply)
    if (waiting.length > 0) schedule(batchDelayMs())
  }

  return {
    submit(submission: Submission): Promise<Result> {
      if (waiting.length >= MAX_QUEUED)
        return Promise.reject(new GateError('overloaded', 'Too many requests wait for the audit store.'))
      return new Promise((resolve, reject) => {
        const prepared = { ...submission, entries: submission.entries.map(prepareEntry) }
        const item = { submission: prepared, sinceMs: performance.now(), resolve, reject }
        // Behind those that are being written, and others of its kind.
        const at = goesFirst(item) ? waiting.findIndex((other, i) => i >= writing && !goesFirst(other)) : -1
        waiting.splice(at < 0 ? waiting.length : at, 0, item)
        schedule(batchDelayMs())
      })
    },
    idle: () => waiting.length === 0 && writing === 0,
  }
}

/**
 * What counts on nothing more having been allowed goes first: those before it would be allowed what it counted, each time that
 * it is decided anew.
 */
function goesFirst({ submission }: Waiting): boolean {
  return submission.guards.some(({ kind }) => kind === 'noNewAllows')
}

/** At least one, and then as many as are not too many or too large together. */
function firstGroup(waiting: readonly Waiting[]): Waiting[] {
  const group: Waiting[] = []
  let characters = 0
  for (const item of waiting.slice(0, MAX_GROUP)) {
    for (const { sections } of item.submission.entries) for (const { json } of sections) characters += json.length
    if (group.length > 0 && characters > MAX_GROUP_CHARACTERS) break
    group.push(item)
  }
  return group
}

/** Those that may go on waiting for the lock: they have not waited for too long since it was first held. */
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
    host.written(reply.stateVersion)
    const imposed = host.imposed()
    for (const [i, member] of members.entries()) settle(member, reply.results[i], imposed)
  } catch (error) {
    for (const member of members) member.reject(unavailable('be written', error))
  }
}

function settle(
  { submission, resolve, reject }: Waiting,
  result: WriteResult | undefined,
  imposed: readonly KillSwitch[],
) {
  if (result === undefined) throw new Error('the writer did not answer all')
  if ('fault' in result) {
    const { code, message } = result.fault
    reject(code === null ? new TypeError(message) : new GateError(code, message))
  } else if (result.conflict === null && isStoppedBy(imposed, submission)) {
    // From the stop on, nothing is allowed here, be it in the chain already.
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
