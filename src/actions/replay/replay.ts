import type { Keys } from '../../approvals/votes.ts'
import { ownerOf } from '../../audit/chain.ts'
import type { HistoryChoice } from '../../replay/decide.ts'
import type { StartReplay } from '../../replay/replay.ts'
import type { ReplayReport } from '../../replay/report.ts'
import type { Store } from '../../store/store.ts'
import { NEVER, newestPruned } from '../gate/extent.ts'
import { decisionsIn, type ReplayRange } from './recorded.ts'

export interface ReplayRequest extends ReplayRange {
  history: HistoryChoice
}

/** A draft, where it is to be replayed. */
export interface Draft<R = ReplayReport> {
  /** As `reachOf` finds it. */
  reachMs: number
  start: StartReplay<R>
}

export interface ReplayControl {
  /** Called with the entries read so far, of those to be read. */
  onProgress?: ((read: number, total: number) => void) | undefined
  /** Lets others have their turn. */
  pause?: (() => Promise<void>) | undefined
  signal?: AbortSignal | undefined
}

/**
 * Decides recorded requests again with a draft. Reads, and changes nothing.
 *
 * @throws the reason of the signal; GateError `audit_unavailable` when the trail cannot be read
 */
export async function replayTrail<R = ReplayReport>(
  store: Store,
  { history, ...range }: ReplayRequest,
  { reachMs, start }: Draft<R>,
  { onProgress, pause, signal }: ReplayControl = {},
): Promise<R> {
  const sinceMs = range.fromMs - reachMs
  const prunedMs = await newestPruned(store, await store.lanes(range.trail))
  const { total, batches } = await decisionsIn(store, range, sinceMs)
  const { tenantId, environment } = ownerOf(range.trail)
  const fromMs = prunedMs === NEVER ? sinceMs : Math.max(sinceMs, prunedMs + 1)
  const keys = votersOf(store, tenantId)
  const { add, report } = await start({ environment, keys, countsIn: store.countsIn, history, fromMs })
  onProgress?.(0, total)
  for await (const { entries, read } of batches()) {
    signal?.throwIfAborted()
    if (entries.length > 0) await add(entries)
    onProgress?.(read, total)
    await pause?.()
  }
  return report()
}

/** Keys that may have voted in a tenant, without what proves them. */
function votersOf(store: Store, tenantId: string): Keys {
  const all = [...store.state().keys.values()].filter((key) => key.tenantId === null || key.tenantId === tenantId)
  return new Map(all.map((key) => [key.id, { ...key, hash: '' }]))
}
