import type { ApprovalStatus } from '../../approvals/approval.ts'
import type { CheckRequest } from '../../gate/request.ts'
import { coveringStop } from '../../killswitch/killswitch.ts'
import { domainOf } from '../../policy/set.ts'
import { waitForApproval } from '../approvals/approvals.ts'
import type { Caller, CheckDeps } from '../deps.ts'
import type { Idempotency } from '../idempotency.ts'
import { mayWait } from '../waiters.ts'
import type { CheckAnswer } from './answer.ts'
import { type CheckOptions, check } from './check.ts'

/** A vote has been given, and maybe used by another call: the same request is answered otherwise now. */
const DECIDED: readonly ApprovalStatus[] = ['approved', 'rejected', 'consumed']

export interface Wait extends CheckOptions {
  /** 0 answers at once. */
  waitMs: number
  isGone(): boolean
  /** Told how long people were waited for, in ms. */
  waited(ms: number): void
}

/**
 * As `check`, but a hold waits until its approval has been decided, or a stop covers the action; then the request is
 * decided anew, once. A hold that nobody decides in time, or before its deadline, is answered as it is: asking
 * people again is for the caller to want, and so is one of a key that has too many waiting readers. Who has gone uses no approval.
 *
 * @throws GateError as `check`; `unauthenticated` when the key ends meanwhile
 */
export async function checkAndWait(
  deps: CheckDeps,
  caller: Caller,
  request: CheckRequest,
  idempotency: Idempotency | undefined,
  { waitMs, isGone, waited, explain }: Wait,
): Promise<CheckAnswer> {
  const first = await check(deps, caller, request, idempotency, { explain })
  if (waitMs === 0 || first.decision !== 'require_approval' || first.approvalId === null) return first
  // People have been asked by now: the hold is told, and the caller may ask for the approval.
  if (!mayWait(deps.store, caller.key.id)) return first
  const isStopped = (): boolean => {
    const set = deps.policies.get(caller.tenantId)
    const subject = { chain: caller.chain, action: request.action, domain: set && domainOf(set, request.action) }
    return coveringStop(deps.store.state().switches, subject) !== undefined
  }
  const isOver = (): boolean => isGone() || isStopped()
  const sinceMs = performance.now()
  const { status } = await waitForApproval(deps, caller, first.approvalId, waitMs, isOver)
  waited(performance.now() - sinceMs)
  if (isGone() || !(DECIDED.includes(status) || isStopped())) return first
  return check(deps, caller, request, idempotency, { explain })
}
