import { statusAt } from '../../approvals/approval.ts'
import type { Deps } from '../deps.ts'
import { noteStatus, openApprovals } from './open-approvals.ts'

/**
 * Records that a stop has cancelled approvals. Nothing depends on it: the status follows from the stop, so a stop never
 * waits for approvals.
 */
export async function noteCancelled(deps: Deps): Promise<number> {
  const { switches } = deps.store.state()
  if (switches.length === 0) return 0
  let written = 0
  for await (const approved of openApprovals(deps.store, { statuses: ['approved'] })) {
    const cancelled = approved.filter((approval) => statusAt(approval, switches, deps.clock()) === 'cancelled')
    await Promise.all(cancelled.map((approval) => noteStatus(deps, approval, 'cancelled')))
    written += cancelled.length
  }
  return written
}
