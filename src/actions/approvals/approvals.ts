import { setTimeout as sleep } from 'node:timers/promises'
import * as Type from '#typebox'
import {
  type Approval,
  type ApprovalStatus,
  OPEN_STATUSES,
  statusAt,
  subjectOf,
  type Vote,
} from '../../approvals/approval.ts'
import { type ApprovalView, approvalView } from '../../approvals/view.ts'
import { countedVotes } from '../../approvals/votes.ts'
import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import { MAX_TEXT, requestBody } from '../../gate/request.ts'
import { principalOf } from '../../keys/apikey.ts'
import { lengthOf } from '../../store/bounds.ts'
import { change } from '../../store/records.ts'
import type { Guard } from '../../store/submission.ts'
import { type Caller, type Deps, decideAndCommit, eventEntry, isStillActive, stateNow } from '../deps.ts'
import { bindTo, earlierUse, type Idempotency } from '../idempotency.ts'
import { PAGE_BYTES, pageGiven } from '../page.ts'
import { waiters } from '../waiters.ts'
import { assertMayApprove, assertMayReject, hasVoted } from './may-vote.ts'
import { changedByTime, expiryGuard, noteStatus, openApprovals } from './open-approvals.ts'
import { isApprover, type Reader, requesterSeenBy, viewFor, visibleApproval } from './visible-approvals.ts'

const Name = Type.String({ minLength: 1, maxLength: 256 })
const Text = Type.Optional(Type.String({ maxLength: MAX_TEXT }))

export const ApproveRequest = requestBody('ApproveRequest', { approverId: Name, comment: Text })
export const RejectRequest = requestBody('RejectRequest', { approverId: Name, reason: Text })
export type ApproveRequest = Type.Static<typeof ApproveRequest>
export type RejectRequest = Type.Static<typeof RejectRequest>

/**
 * Approvals of the caller's tenant and environment by their current status, oldest deadline first. Callers who may not
 * decide see their own. `total` counts all of that status. A page of large approvals ends early and states its own size
 * as `limit`, so that `offset + limit` is where the next page starts.
 */
export async function listApprovals(
  deps: Deps,
  reader: Reader,
  { status, limit, offset }: { status: ApprovalStatus; limit: number; offset: number },
) {
  const nowMs = deps.clock()
  const state = deps.store.state()
  const actual = await changedByTime(deps, reader.chain, status, nowMs)
  const requestedBy = requesterSeenBy(reader)
  const query = { chain: reader.chain, statuses: [status], actual, limit, offset, requestedBy }
  const { items, total } = await deps.store.approvals({ ...query, maxBytes: PAGE_BYTES })
  const views = items.map((approval) => approvalView(approval, state, nowMs, isApprover(reader)))
  return { items: views, page: pageGiven({ limit, offset, total }, items.length) }
}

/** @throws GateError `not_found`, also for an approval that the reader may not see. */
export async function getApproval(deps: Deps, reader: Reader, id: string): Promise<ApprovalView> {
  return viewFor(deps, reader, await visibleApproval(deps, reader, id))
}

/** Records a vote for the request; the vote that completes the quorum approves it. A repeated vote changes nothing. */
export function approve(
  deps: Deps,
  caller: Caller,
  id: string,
  { approverId, comment }: ApproveRequest,
  idempotency?: Idempotency,
): Promise<ApprovalView> {
  return vote(deps, caller, id, idempotency, (approval, nowMs, end) => {
    const voting = { approval, key: caller.key, approverId, nowMs }
    assertMayApprove(deps.store, voting)
    if (hasVoted(deps.store, voting)) return undefined
    const { keys } = deps.store.state()
    const entryId = deps.newId('entry')
    const votes = [...approval.votes, voteOf(caller, approverId, comment, nowMs, entryId)]
    const counted = countedVotes({ ...approval, votes }, approval, keys, nowMs)
    const decided = counted.size >= approval.quorum
    return {
      changes: decided ? { votes, status: 'approved', decidedAt: formatTimestamp(nowMs), decidedEnd: end } : { votes },
      type: 'approval.approved',
      entryId,
      guards: [
        { kind: 'notStopped', subject: subjectOf(approval) },
        expiryGuard(approval, false),
        ...Array.from(counted.values(), ({ keyId }) => ({ kind: 'voterActive' as const, keyId })),
      ],
    }
  })
}

/** Rejects the request; one vote suffices, and denies it until the approval's deadline. */
export function reject(
  deps: Deps,
  caller: Caller,
  id: string,
  { approverId, reason }: RejectRequest,
  idempotency?: Idempotency,
): Promise<ApprovalView> {
  return vote(deps, caller, id, idempotency, (approval, nowMs) => {
    assertMayReject(deps.store, { approval, key: caller.key, approverId, nowMs })
    const entryId = deps.newId('entry')
    const votes = [...approval.votes, voteOf(caller, approverId, reason, nowMs, entryId)]
    const changes = { votes, status: 'rejected' as const, decidedAt: formatTimestamp(nowMs) }
    return { changes, type: 'approval.rejected', entryId, guards: [expiryGuard(approval, false)] }
  })
}

interface Ballot {
  changes: Partial<Approval>
  type: 'approval.approved' | 'approval.rejected'
  entryId: string
  guards: Guard[]
}

/**
 * Runs either vote: reads, lets `cast` decide, commits.
 *
 * @param cast gets the length of the chain; returns undefined when nothing changes
 */
function vote(
  deps: Deps,
  caller: Caller,
  id: string,
  idempotency: Idempotency | undefined,
  cast: (approval: Approval, nowMs: number, end: number) => Ballot | undefined,
): Promise<ApprovalView> {
  return decideAndCommit(deps.store, async () => {
    // Read before the earlier use: without one, no commit of this vote is in it.
    const approval = await visibleApproval(deps, caller, id)
    const earlier = await earlierUse(deps.store, caller, idempotency)
    if (earlier !== undefined) {
      const voted = await getApproval(deps, caller, id)
      return { submission: null, reply: () => voted }
    }
    // Read before the stops: what comes after this place comes after the vote.
    const end = await lengthOf(deps.store, caller.chain)
    const ballot = cast(approval, deps.clock(), end)
    if (ballot === undefined) return { submission: null, reply: () => viewFor(deps, caller, approval) }
    const { changes, type, entryId, guards } = ballot
    const changed = change('approval', approval, changes)
    const bound = bindTo(deps, caller, idempotency, earlier, entryId)
    return {
      submission: {
        guards: [{ kind: 'keyActive', keyId: caller.key.id }, ...guards, ...bound.guards],
        writes: [changed.write, ...bound.writes],
        entries: [{ ...eventEntry(deps, caller.chain, type, changed.data, caller.actor), id: entryId }],
      },
      reply: () => viewFor(deps, caller, changed.record),
    }
  })
}

function voteOf(caller: Caller, approverId: string, comment: string | undefined, nowMs: number, entryId: string): Vote {
  const { id: keyId } = caller.key
  const votedAt = formatTimestamp(nowMs)
  return { keyId, principal: principalOf(caller.key), approverId, comment: comment ?? null, votedAt, entryId }
}

/** Time limit of a run; the next one continues. */
const RUN_MS = 2000

/**
 * Records that approvals have expired. Nothing depends on it: the status follows from the deadline. Approvals that a
 * stop holds open are skipped, so that they do not block the run.
 *
 * @param all looks at those before their deadline too: one that begins in the future is over
 */
export async function expireDue(deps: Deps, { all = false } = {}): Promise<number> {
  const { switches } = deps.store.state()
  const end = performance.now() + RUN_MS
  let written = 0
  const dueAt = all ? undefined : formatTimestamp(deps.clock())
  for await (const due of openApprovals(deps.store, { statuses: OPEN_STATUSES, dueAt })) {
    const expired = due.filter((approval) => statusAt(approval, switches, deps.clock()) === 'expired')
    await Promise.all(expired.map((approval) => noteStatus(deps, approval, 'expired')))
    written += expired.length
    if (performance.now() > end) break
  }
  return written
}

/**
 * Records that a stop has cancelled approvals. Nothing depends on it: the status follows from the stop, so a stop never
 * waits for approvals. A stop that is not on disk yet has no place in the trail, which the cancellation must follow.
 */
export async function noteCancelled(deps: Deps): Promise<number> {
  const switches = deps.store.state().switches.filter(({ lengths }) => lengths !== undefined)
  if (switches.length === 0) return 0
  let written = 0
  for await (const approved of openApprovals(deps.store, { statuses: ['approved'] })) {
    const cancelled = approved.filter((approval) => statusAt(approval, switches, deps.clock()) === 'cancelled')
    await Promise.all(cancelled.map((approval) => noteStatus(deps, approval, 'cancelled')))
    written += cancelled.length
  }
  return written
}

/** Poll interval of a waiting reader, and so the largest delay of another process's vote. */
const WAIT_STEP_MS = 200

/**
 * The approval once it is settled, or as it is at the time limit or when the reader has gone. Checks access at every
 * poll: a revoked key stops waiting.
 *
 * @throws GateError `overloaded` when the key has too many waiting readers
 */
export async function waitForApproval(
  deps: Deps,
  caller: Caller,
  id: string,
  waitMs: number,
  isGone: () => boolean,
): Promise<ApprovalView> {
  const release = waiters.take(deps.store, caller.key.id)
  try {
    const end = performance.now() + waitMs
    const approval = await visibleApproval(deps, caller, id)
    for (;;) {
      const { switches } = await stateNow(deps.store)
      if (!isStillActive(deps, caller)) throw new GateError('unauthenticated', 'The API key is not valid.')
      const left = end - performance.now()
      // A deadline moves with stops only, so what was read once says when it is over.
      const isOver = statusAt({ ...approval, status: 'pending' }, switches, deps.clock()) !== 'pending'
      if (isOver || left <= 0 || isGone() || !(await deps.store.isPending(approval))) break
      await sleep(Math.min(left, WAIT_STEP_MS))
    }
    return await getApproval(deps, caller, id)
  } finally {
    release()
  }
}
