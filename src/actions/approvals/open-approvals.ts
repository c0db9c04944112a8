import { setImmediate as turn } from 'node:timers/promises'
import {
  type Approval,
  type ApprovalStatus,
  isOpenStatus,
  OPEN_STATUSES,
  type Standing,
  statusAt,
} from '../../approvals/approval.ts'
import { SERVICE } from '../../audit/draft.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { OpenQuery, StandingQuery } from '../../store/queries.ts'
import { change } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { Guard } from '../../store/submission.ts'
import { type Deps, eventEntry } from '../deps.ts'

const BATCH = 200
const BATCH_BYTES = 1024 * 1024

/** All open approvals, in batches; other work runs between two batches. */
export function openApprovals(
  store: Store,
  query: Omit<OpenQuery, 'limit' | 'after' | 'maxBytes'>,
): AsyncGenerator<Approval[]> {
  return batches((after) => store.openApprovals({ ...query, after, limit: BATCH, maxBytes: BATCH_BYTES }))
}

/** As `openApprovals`, without the requests: its cost does not depend on their size. */
export function openStandings(store: Store, query: Omit<StandingQuery, 'limit' | 'after'>): AsyncGenerator<Standing[]> {
  return batches((after) => store.openStandings({ ...query, after, limit: BATCH }))
}

async function* batches<T>(next: (after: T | undefined) => Promise<T[]>): AsyncGenerator<T[]> {
  let after: T | undefined
  for (;;) {
    const batch = await next(after)
    if (batch.length === 0) return
    yield batch
    after = batch.at(-1)
    await turn()
  }
}

/** The open approvals to read before the ones of a status are known; none for the other statuses. */
const OPEN_BEHIND: Partial<Record<ApprovalStatus, { statuses: OpenQuery['statuses']; due: boolean }>> = {
  pending: { statuses: ['pending'], due: true },
  // A stop cancels earlier approved ones, long before the deadline.
  approved: { statuses: ['approved'], due: false },
  cancelled: { statuses: ['approved'], due: false },
  expired: { statuses: OPEN_STATUSES, due: true },
}

/**
 * Ids of the chain's open approvals that have expired or been cancelled, as far as a list of `status` depends on them.
 */
export async function changedByTime({ store }: Deps, chain: string, status: ApprovalStatus, nowMs: number) {
  const actual: { expired: string[]; cancelled: string[] } = { expired: [], cancelled: [] }
  const behind = OPEN_BEHIND[status]
  if (behind === undefined) return actual
  const { switches } = store.state()
  const dueAt = behind.due ? formatTimestamp(nowMs) : undefined
  for await (const batch of openStandings(store, { statuses: behind.statuses, dueAt, chain })) {
    for (const approval of batch) {
      const now = statusAt(approval, switches, nowMs)
      if (now === 'expired' || now === 'cancelled') actual[now].push(approval.id)
    }
  }
  return actual
}

/** True unless the stored status is settled too: an approval that is over by the clock still gets an entry. */
export function isOpen(store: Store, approval: Approval, nowMs: number): boolean {
  return isOpenStatus(approval.status) || isOpenStatus(statusAt(approval, store.state().switches, nowMs))
}

/** The expiry of the approval as it is decided at the commit: the clock may have gone by then, either way. */
export function expiryGuard(approval: Standing, isOver: boolean): Guard {
  const { id, chain, action, domain, status, createdAt, requestedEnd, decidedEnd, expiresAt } = approval
  return {
    kind: 'expiry',
    of: { id, chain, action, domain, status, createdAt, requestedEnd, decidedEnd, expiresAt },
    isOver,
  }
}

/** Records a computed status in the record and the chain. */
export async function noteStatus(deps: Deps, approval: Approval, status: 'expired' | 'cancelled'): Promise<void> {
  const { write, data } = change('approval', approval, { status })
  // A conflict means that another change came first; the next run looks again.
  await deps.store.commit({
    guards: status === 'expired' ? [expiryGuard(approval, true)] : [],
    writes: [write],
    entries: [eventEntry(deps, approval.chain, `approval.${status}`, data, SERVICE)],
  })
}
