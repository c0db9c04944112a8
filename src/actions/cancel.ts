import { statusAt } from '../approvals/approval.ts'
import { SERVICE } from '../audit/entry.ts'
import { change } from '../records.ts'
import { type Deps, eventEntry } from './deps.ts'

/**
 * Writes the entry that a stop has cancelled an approval. Nothing depends on it: the status follows from the
 * stop, so that a stop never has to wait for approvals.
 */
export async function noteCancelled(deps: Deps): Promise<number> {
  const { switches } = deps.store.state()
  if (switches.length === 0) return 0
  const approved = await deps.store.approvedApprovals()
  const cancelled = approved.filter((approval) => statusAt(approval, switches, deps.clock()) === 'cancelled')
  for (const approval of cancelled) {
    const { write, data } = change('approval', approval, { status: 'cancelled' })
    // A conflict means that somebody else changed it; the next sweep looks again.
    await deps.store.commit({
      guards: [],
      writes: [write],
      entries: [eventEntry(deps, approval.chain, 'approval.cancelled', data, SERVICE)],
    })
  }
  return cancelled.length
}
