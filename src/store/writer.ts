import type { Head } from '../audit/chain.ts'
import type { SealKey } from '../audit/seal.ts'
import { type ErrorCode, GateError } from '../base/errors.ts'
import type { KillSwitch } from '../killswitch/killswitch.ts'
import { sealHeads } from './append.ts'
import { applySubmission } from './commit.ts'
import { AlteredFile } from './errors.ts'
import type { Group } from './group.ts'
import type { Memory } from './memory.ts'
import type { Awaitable, Steps } from './steps.ts'
import type { SealKeys } from './store.ts'
import type { Committed, Conflict, PreparedSubmission } from './submission.ts'

/** Time after which no further submission joins a group: its first member waits for its last. */
const GROUP_MS = 20

/** Submissions that arrived together. Plain data, as all types here, since a thread may receive it. */
export interface WriteRequest {
  submissions: readonly PreparedSubmission[]
  /** True when it is better written in a thread (pace.ts). */
  isThreadBetter: boolean
  /** The records as the store holds them, compared with the chains. */
  memory: Memory
  /** Stops in force that are not on disk yet. */
  imposed: readonly KillSwitch[]
  /** Chains whose newest entry is ahead of the clock, where an entry records that, with the clock when it was seen last. */
  regressed: ReadonlyMap<string, number>
  nowMs: number
  /** Newest entries that this process has written, of the chains of the submissions. */
  known: ReadonlyMap<string, Head>
  /** Key of the seals; undefined for a store without them. */
  seal: SealKey | undefined
}

/** Records are sealed with a log key that the writer was not given: another process has rotated it. */
export class OtherSealKey extends Error {
  override readonly name = 'OtherSealKey'
}

/** The key that came with the request. Rows may have been sealed with its successor since. @throws OtherSealKey */
export function sealKeysOf({ seal }: Pick<WriteRequest, 'seal'>): SealKeys | undefined {
  if (seal === undefined) return undefined
  return (id) => {
    if (id === seal.id) return seal
    throw new OtherSealKey(`The store is sealed with the log key ${id}.`)
  }
}

/** Fault of the submission itself; `code` is null for a bug of this program. */
interface Fault {
  code: ErrorCode | null
  message: string
  /** The chain whose end was altered, if that is the fault. */
  chain?: string | undefined
}

export type WriteResult = Committed | Conflict | { fault: Fault }

export interface Written extends Pick<Group, 'regressed' | 'heads'> {
  kind: 'written'
  /** Results of the first submissions; the others did not fit. A result without conflict or fault is on disk. */
  results: readonly WriteResult[]
  stateVersion: number
  /** Time of the transaction, in ms: neither the way to a thread nor its start says anything of the disk. */
  tookMs: number
}

export type WriteReply =
  | Written
  /** Another process holds the lock, or has just rotated the log key; nothing was tried. */
  | { kind: 'busy' }
  /** The file cannot be written. `unknown`: the COMMIT failed, and may or may not be on disk. */
  | { kind: 'failed'; cause: string; unknown: boolean }

/** Writes to one store, a group at a time. */
export interface Writer {
  /** False where every write blocks the caller. */
  hasThread: boolean
  /**
   * A promise where a thread writes. Throws, or rejects, when a failed file cannot even be closed; the write may or may
   * not be on disk then.
   */
  write(request: WriteRequest): Awaitable<WriteReply>
  close(): Promise<void>
}

/** The group of a request, at its beginning. */
export function groupOf(
  { imposed, seal, known, regressed, nowMs }: WriteRequest,
  beside: Pick<Group, 'origin' | 'random' | 'tables' | 'memory'> & Partial<Pick<Group, 'counters' | 'slackMs'>>,
): Group {
  return { slackMs: 0, ...beside, imposed, seal, known, nowMs, heads: new Map(), regressed: new Map(regressed) }
}

/** Applies as many submissions as fit in the time of a group, and seals the chains that they touched. */
export function* applyAll(group: Group, submissions: readonly PreparedSubmission[]): Steps<WriteResult[]> {
  const sinceMs = performance.now()
  const results: WriteResult[] = []
  for (const submission of submissions) {
    results.push(yield* writeResultOf(group, submission))
    if (performance.now() - sinceMs > GROUP_MS) break
  }
  yield* sealHeads(group)
  return results
}

/** A fault of the submission refuses it alone; a failure of the database propagates and ends the group. */
function* writeResultOf(group: Group, submission: PreparedSubmission): Steps<WriteResult> {
  try {
    return yield* applySubmission(group, submission)
  } catch (error) {
    if (group.tables.isFailure(error)) throw error
    const message = error instanceof Error ? error.message : String(error)
    return { fault: { code: codeOf(error), message, chain: error instanceof AlteredFile ? error.chain : undefined } }
  }
}

/** An altered record refuses only the submissions that use it. */
function codeOf(error: unknown): ErrorCode | null {
  if (error instanceof AlteredFile) return 'audit_unavailable'
  return error instanceof GateError ? error.code : null
}
