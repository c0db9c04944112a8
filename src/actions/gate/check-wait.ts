import type { ApprovalStatus } from '../../approvals/approval.ts'
import type { CheckRequest } from '../../gate/request.ts'
import { coveringStop } from '../../killswitch/killswitch.ts'
import { domainOf } from '../../policies/set.ts'
import { waitForApproval } from '../approvals/approvals.ts'
import type { Caller, CheckDeps } from '../deps.ts'
import type { Idempotency } from '../idempotency.ts'
import { waiters } from '../waiters.ts'
import type { CheckAnswer } from './answer.ts'
import { type CheckOptions, check } from './check.ts'

/** Statuses after a vote, maybe after use by another call: the same request now gets another answer. */
const DECIDED: readonly ApprovalStatus[] = ['approved', 'rejected', 'consumed']

export interface Wait extends CheckOptions {
  /** 0 answers at once. */
  waitMs: number
}

/** The caller that waits. */
interface Waiting {
  caller: Caller
  isGone(): boolean
  /** Called with the time spent waiting for people, in ms. */
  waited(ms: number): void
}

/**
 * Checks, and waits on a hold until its approval is decided or a stop covers the action; then decides anew, once. A
 * hold without a decision in time is answered as it is, and so is one of a key with too many waiting readers. A caller
 * that has gone uses no approval.
 *
 * @throws GateError as `check`; `unauthenticated` when the key ends meanwhile
 */
export function checkAndWait(
  deps: CheckDeps,
  waiting: Waiting,
  request: CheckRequest,
  idempotency: Idempotency | undefined,
  { waitMs, explain }: Wait,
): Promise<CheckAnswer> {
  const decide = (): Promise<CheckAnswer> => check(deps, waiting.caller, request, idempotency, { explain })
  return waitMs === 0 ? decide() : decideAndWait(deps, waiting, request, waitMs, decide)
}

async function decideAndWait(
  deps: CheckDeps,
  waiting: Waiting,
  request: CheckRequest,
  waitMs: number,
  decide: () => Promise<CheckAnswer>,
): Promise<CheckAnswer> {
  const { caller } = waiting
  const first = await decide()
  if (first.decision !== 'require_approval' || first.approvalId === null) return first
  // The approval is pending by now: the caller gets the hold and may poll.
  if (!waiters.isFree(deps.store, caller.key.id)) return first
  const isStopped = (): boolean => {
    const set = deps.policies.get(caller.tenantId)
    const subject = { chain: caller.chain, action: request.action, domain: set && domainOf(set, request.action) }
    return coveringStop(deps.store.state().switches, subject) !== undefined
  }
  const isOver = (): boolean => waiting.isGone() || isStopped()
  const sinceMs = performance.now()
  const { status } = await waitForApproval(deps, caller, first.approvalId, waitMs, isOver).finally(() =>
    waiting.waited(performance.now() - sinceMs),
  )
  if (waiting.isGone() || !(DECIDED.includes(status) || isStopped())) return first
  return decide()
}
