import type { knownHeads } from '../known-heads.ts'
import type { Pace } from '../next-group.ts'
import { commitQueue, type QueueHost } from '../queue.ts'
import type { Submission } from '../submission.ts'
import type { Database } from './database.ts'
import { belongsInLane, laneLocking } from './lane-locking.ts'
import type { LaneLease } from './lease.ts'
import { type Locking, serverWriter, type WriterOptions } from './writer.ts'

/** Size of a group from which its transaction costs little for each submission. */
const LARGE_GROUP = 10
/** Limit of the wait of a busy sidecar for more submissions, and the least time of a transaction that is worth a wait. */
const MAX_PAUSE_MS = 2
const SLOW_MS = 4

/**
 * Submissions share a transaction while the one before is under way. On a busy machine, where small groups take long, the
 * next one waits a little for those that were just answered, as PostgreSQL does by `commit_delay`.
 */
function serverPace(): Pace {
  let pauseMs = 0
  return {
    isThreadBetter: () => true,
    isDue: () => false,
    isNextDue: () => pauseMs === 0,
    delayMs: () => pauseMs,
    written(group, { tookMs }) {
      const isSmall = group.length > 1 && group.length < LARGE_GROUP
      pauseMs = isSmall && tookMs > SLOW_MS ? Math.min(MAX_PAUSE_MS, tookMs / 4) : 0
    },
  }
}

/** Floors of counters, and the rest between the clocks of sidecars, come to less. */
const SLACK_MS = 1000

interface QueuesOptions extends Omit<WriterOptions, 'slackMs'> {
  heads: ReturnType<typeof knownHeads>
  /** Undefined for a store without lanes. */
  lease: LaneLease | undefined
}

/** The queues of a store: what belongs in a lane never waits behind a chain that other sidecars hold. */
export function serverQueues(
  database: Database,
  host: Omit<QueueHost, 'writer' | 'pace' | 'discard' | 'heads'>,
  { heads, lease, ...given }: QueuesOptions,
) {
  const options = { ...given, slackMs: lease === undefined ? 0 : SLACK_MS }
  const { numbers } = options
  const begun = (locking?: Locking) => {
    const writer = serverWriter(database, options, locking)
    const queue = commitQueue({ ...host, heads, writer, pace: serverPace(), discard: () => undefined })
    return { queue, close: writer.close }
  }
  const shared = begun()
  const lanes = lease === undefined ? shared : begun(laneLocking({ lease, numbers, known: heads.of }))
  return {
    submit: (submission: Submission, isAbandoned?: () => boolean) =>
      (belongsInLane(submission) ? lanes : shared).queue.submit(submission, isAbandoned),
    largeWrite: () => shared.queue.largeWrite() ?? lanes.queue.largeWrite(),
    idle: () => shared.queue.idle() && lanes.queue.idle(),
    async close(): Promise<void> {
      await Promise.all([shared.close(), lanes.close()])
      await lease?.release().catch(() => undefined)
    },
  }
}
