import { ownerOf } from '../../audit/chain.ts'
import type { PolicyData } from '../../policies/set.ts'
import type { HistoryChoice } from '../../replay/decide.ts'
import { type Replayer, type ReplayJob, readsFrom } from '../../replay/replay.ts'
import type { ReplayReport } from '../../replay/report.ts'
import type { Store } from '../../store/store.ts'
import { NEVER, newestPruned } from '../gate/extent.ts'
import { decisionsIn, type ReplayRange } from './recorded.ts'

export interface ReplayRequest extends ReplayRange {
  /** The draft. */
  data: PolicyData
  history: HistoryChoice
}

export interface ReplayControl {
  /** Starts the replay, here or in a thread. */
  start(job: ReplayJob): Replayer
  /** Called with the entries read so far, of those to be read. */
  onProgress?(read: number, total: number): void
  /** Lets others have their turn. */
  pause?(): Promise<void>
  signal?: AbortSignal
}

/**
 * Decides recorded requests again with a draft. Reads, and changes nothing.
 *
 * @throws the reason of the signal; GateError `audit_unavailable` when the trail cannot be read
 */
export async function replayTrail(
  store: Store,
  { data, history, ...range }: ReplayRequest,
  { start, onProgress, pause, signal }: ReplayControl,
): Promise<ReplayReport> {
  const sinceMs = readsFrom(data, range.fromMs)
  const prunedMs = await newestPruned(store, await store.lanes(range.trail))
  const { total, batches } = await decisionsIn(store, range, sinceMs)
  const { environment } = ownerOf(range.trail)
  const { countsIn } = store
  const fromMs = prunedMs === NEVER ? sinceMs : Math.max(sinceMs, prunedMs + 1)
  const { add, report } = start({ data, environment, keys: store.state().keys, countsIn, history, fromMs })
  onProgress?.(0, total)
  for await (const { entries, read } of batches()) {
    signal?.throwIfAborted()
    await add(entries)
    onProgress?.(read, total)
    await pause?.()
  }
  return report()
}
