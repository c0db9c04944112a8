import { setTimeout as sleep } from 'node:timers/promises'
import { type ErrorCode, GateError } from '../base/errors.ts'
import { type Clock, formatTimestamp } from '../base/time.ts'
import type { Store } from '../store/store.ts'
import type { Committed, Conflict } from '../store/submission.ts'
import type { Logger } from './log.ts'

/**
 * Time without a write after which one is tried, so that an idle service learns of a full disk before its next caller.
 * Probes ask as often as that; 8,640 small writes a day wear out no disk.
 */
const IDLE_MS = 10_000
/** Time for which a start tries a commit again while others hold the store: many may start at once. */
const START_MS = 60_000
const RETRY_MS = 250
/** Bytes of a trial after a failure: more than a group of checks takes, since less could fit where a check does not. */
const TRIAL_BYTES = 256 * 1024

/** Codes that a refused commit has; a bug of ours is `internal`. */
const COMMIT_CODES = ['audit_unavailable', 'overloaded', 'internal'] as const satisfies readonly ErrorCode[]
type CommitCode = (typeof COMMIT_CODES)[number]

/** The outcome of writes, known without asking the disk. */
export interface Writing {
  /** Time of the first failure since a trial succeeded; null while writes succeed. */
  failingSince(): string | null
  /** Commits that were refused since the start, trials included. */
  refused(): Readonly<Record<CommitCode, number>>
}

/**
 * Watches what becomes of commits. After a failure only a trial shows that writes succeed again: a small write, or one
 * into room that is kept for stops, may succeed on a disk that takes no decision.
 */
export function watchWrites(store: Pick<Store, 'commit'>, clock: Clock) {
  const refused = { audit_unavailable: 0, overloaded: 0, internal: 0 }
  let failingSince: string | null = null
  let writtenMs = Number.NEGATIVE_INFINITY
  let startsUntilMs = performance.now() + START_MS

  const fail = (error: unknown): void => {
    const code = codeOf(error)
    refused[code] += 1
    // A bug in one submission says nothing about the others.
    if (code !== 'internal') failingSince ??= formatTimestamp(clock())
  }
  const note = ({ conflict }: Committed | Conflict): void => {
    // A conflict may have written nothing.
    if (conflict === null) writtenMs = performance.now()
  }
  // Noted before the caller learns of it, since it asks later.
  const once: Store['commit'] = (submission, isAbandoned) => {
    const result = store.commit(submission, isAbandoned)
    void result.then(note, fail)
    return result
  }
  const patiently: Store['commit'] = async (submission, isAbandoned) => {
    for (;;) {
      try {
        return await once(submission, isAbandoned)
      } catch (error) {
        if (codeOf(error) !== 'overloaded' || performance.now() > startsUntilMs) throw error
        await sleep(RETRY_MS)
      }
    }
  }
  const commit: Store['commit'] = (submission, isAbandoned) =>
    (performance.now() < startsUntilMs ? patiently : once)(submission, isAbandoned)
  return {
    commit,
    /** Ends the patience of a start. */
    started(): void {
      startsUntilMs = Number.NEGATIVE_INFINITY
    },
    failingSince: () => failingSince,
    refused: () => refused,
    /** Tries a write when one failed, or when there was none for a while. @throws GateError of the store */
    async tend(): Promise<void> {
      if (failingSince === null && performance.now() - writtenMs < IDLE_MS) return
      const bytes = failingSince === null ? 0 : TRIAL_BYTES
      await commit({ guards: [], writes: [{ kind: 'trial', at: formatTimestamp(clock()), bytes }], entries: [] })
      failingSince = null
    },
  }
}

function codeOf(error: unknown): CommitCode {
  const code = error instanceof GateError ? error.code : undefined
  return COMMIT_CODES.find((known) => known === code) ?? 'internal'
}

/** Time between two lines of a conversion. */
const CONVERSION_MS = 5000

/** Logs how far an older data file is converted, which takes minutes for millions of entries. */
export function conversionLog(log: Logger): (left: number) => void {
  let dueMs = 0
  return (left) => {
    if (performance.now() < dueMs && left > 0) return
    dueMs = performance.now() + CONVERSION_MS
    log.info({ entries: left }, 'converting an older data file: entries are left')
  }
}
