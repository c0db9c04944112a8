import { prepareEntry } from '../audit/draft.ts'
import { GateError } from '../base/errors.ts'
import { isLarge, type Sized } from './next-group.ts'
import type { Committed, Conflict, PreparedSubmission, Submission } from './submission.ts'

/** Limit of the wait for the lock, after which a submission is refused. */
const BUSY_LIMIT_MS = 5000
const MAX_QUEUED = 10_000

export interface Waiting extends Sized {
  submission: PreparedSubmission
  isAbandoned: (() => boolean) | undefined
  sinceMs: number
  resolve(result: Committed | Conflict): void
  reject(error: unknown): void
}

export function waitingOf(
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
export function enqueue(waiting: Waiting[], item: Waiting, writing: number): void {
  if (waiting.length >= MAX_QUEUED) throw new GateError('overloaded', 'Too many requests wait for the audit store.')
  const at = goesFirst(item) ? waiting.findIndex((other, i) => i >= writing && !goesFirst(other)) : -1
  if (at < 0) waiting.push(item)
  else waiting.splice(at, 0, item)
}

/** True for a guard that forbids further allows. It has priority: earlier allows would fail it at each retry. */
function goesFirst({ submission }: Waiting): boolean {
  return submission.guards.some(
    (guard) =>
      guard.kind === 'noNewAllows' || (guard.kind === 'counters' && guard.of.some(({ floorMs }) => floorMs !== null)),
  )
}

/** Refuses the submissions that nobody waits for any longer, and returns the others. */
export function withoutAbandoned(waiting: readonly Waiting[]): Waiting[] {
  return waiting.filter(({ isAbandoned, resolve }) => {
    const abandoned = isAbandoned?.() === true
    if (abandoned) resolve({ conflict: 'abandoned' })
    return !abandoned
  })
}

/** Refuses the submissions that have waited too long since the lock was first held, and returns the others. */
export function refuseOldest(waiting: readonly Waiting[], busySinceMs: number): Waiting[] {
  const oldest = performance.now() - BUSY_LIMIT_MS
  const isTooOld = ({ sinceMs }: Waiting): boolean => Math.max(sinceMs, busySinceMs) < oldest
  for (const item of waiting) {
    if (isTooOld(item)) item.reject(new GateError('overloaded', 'Another process holds the audit store; try again.'))
  }
  return waiting.filter((item) => !isTooOld(item))
}
