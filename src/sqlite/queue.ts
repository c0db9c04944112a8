import { GateError } from '../base/errors.ts'
import type { KillSwitch } from '../killswitch/killswitch.ts'
import type { Committed, Conflict, Submission } from '../store.ts'
import { applySubmission, type CommitDeps, type Group } from './commit.ts'
import type { Connection } from './connection.ts'
import { isBusy, isSqliteError, unavailable } from './errors.ts'
import { type Memory, refreshed } from './memory.ts'

/** Pause before asking again for a lock that another process holds. */
const BUSY_RETRY_MS = 5
/** A submission that has waited this long for the lock is refused. */
const BUSY_LIMIT_MS = 5000
const MAX_QUEUED = 10_000
/** A group takes no more than this: reads wait while it is written, and its first member waits for its last. */
const MAX_GROUP = 200
/** No submission joins a group that has taken this long already. */
const GROUP_MS = 20

type Result = Committed | Conflict

interface Waiting {
  submission: Submission
  sinceMs: number
  resolve(result: Result): void
  reject(error: unknown): void
}

/** What the queue works on. */
export interface QueueHost {
  /** The open file; opened anew after it was discarded. @throws when it cannot be opened */
  connection(): Connection
  memory(): Memory
  keep(memory: Memory): void
  imposed(): readonly KillSwitch[]
  /** Closes the connection, whose state is unknown. */
  discard(): void
}

/**
 * Group commit: what has arrived when the event loop turns shares one transaction and one fsync, and is
 * answered after it; what is more than a group waits for the next turn. There is no timer to wait for
 * company, and no wait for SQLite's lock on the event loop: when another process holds it, the group is
 * tried again a little later. What can wait is bounded by number here, and by bytes where requests are read.
 */
export function commitQueue(host: QueueHost, deps: CommitDeps) {
  let waiting: Waiting[] = []
  let scheduled = false

  const schedule = (delayMs: number): void => {
    if (scheduled) return
    scheduled = true
    if (delayMs === 0) setImmediate(flush)
    else setTimeout(flush, delayMs)
  }

  const flush = (): void => {
    scheduled = false
    if (waiting.length === 0) return
    let connection: Connection
    try {
      connection = host.connection()
      connection.transaction.begin.run()
    } catch (error) {
      postpone(error)
      return
    }
    const taken = commitGroup(host, deps, connection, waiting.slice(0, MAX_GROUP))
    waiting = waiting.slice(taken)
    // Not in a loop: what else the event loop has to do comes between two groups.
    if (waiting.length > 0) schedule(0)
  }

  const postpone = (error: unknown): void => {
    const busy = isBusy(error)
    const oldest = performance.now() - BUSY_LIMIT_MS
    const refused = waiting.filter((item) => !busy || item.sinceMs < oldest)
    waiting = waiting.filter((item) => !refused.includes(item))
    for (const item of refused) {
      item.reject(
        busy
          ? new GateError('overloaded', 'Another process holds the audit store; try again.')
          : unavailable('be written', error),
      )
    }
    if (waiting.length > 0) schedule(BUSY_RETRY_MS)
  }

  return {
    submit(submission: Submission): Promise<Result> {
      if (waiting.length >= MAX_QUEUED)
        return Promise.reject(new GateError('overloaded', 'Too many requests wait for the audit store.'))
      return new Promise((resolve, reject) => {
        waiting.push({ submission, sinceMs: performance.now(), resolve, reject })
        schedule(0)
      })
    },
    idle: () => waiting.length === 0,
  }
}

/** One transaction, begun by the caller, for as many as fit in its time. Each of these is answered, after the COMMIT. Returns how many. */
function commitGroup(host: QueueHost, deps: CommitDeps, connection: Connection, members: readonly Waiting[]): number {
  const sinceMs = performance.now()
  const answers: (() => void)[] = []
  let taken = 0
  try {
    const group: Group = {
      connection,
      memory: refreshed(host.memory(), connection),
      imposed: host.imposed(),
      heads: new Map(),
      regressed: new Set(connection.regressed),
      nowMs: deps.clock(),
    }
    for (const member of members) {
      taken += 1
      answers.push(applyMember(group, member, deps))
      if (performance.now() - sinceMs > GROUP_MS) break
    }
    connection.transaction.commit.run()
    connection.regressed = group.regressed
    host.keep(group.memory)
  } catch (error) {
    // Closing rolls back what was not committed. Whether a failed COMMIT is on disk is unknown: it is never
    // repeated, the file is opened anew and read.
    host.discard()
    for (const member of members) member.reject(unavailable('be written', error))
    return members.length
  }
  for (const answer of answers) answer()
  return taken
}

/** A fault of the submission itself refuses it alone; a fault of the file is thrown on and ends the group. */
function applyMember(group: Group, member: Waiting, deps: CommitDeps): () => void {
  try {
    const result = applySubmission(group, member.submission, deps)
    return () => member.resolve(result)
  } catch (error) {
    if (isSqliteError(error)) throw error
    return () => member.reject(error)
  }
}
