import type { Ruling } from '../../gate/decide.ts'
import { principalOf } from '../../keys/apikey.ts'
import { DEFAULT_PLAN, PENDING_LIMITS } from '../../keys/plan.ts'
import type { Guard } from '../../store/submission.ts'
import type { Caller, CheckDeps } from '../deps.ts'

/** The guard of a new approval: the caller has fewer pending than its tenant's plan gives each agent. */
export function pendingGuard({ store }: CheckDeps, { key, chain, tenantId }: Caller) {
  const plan = store.state().tenants.get(tenantId)?.plan ?? DEFAULT_PLAN
  return { kind: 'pendingBelow', chain, requestedBy: principalOf(key), limit: PENDING_LIMITS[plan] } satisfies Guard
}

/** Denies what would be held, when the caller has as many approvals pending as it may; undefined when it has fewer. */
export async function overPendingLimit(deps: CheckDeps, caller: Caller, outcome: Ruling): Promise<Ruling | undefined> {
  const { chain, requestedBy, limit } = pendingGuard(deps, caller)
  if ((await deps.store.pendingOf(chain, requestedBy)) < limit) return undefined
  const reason = `${outcome.reason} No more approvals can be requested: ${limit} requests of ${requestedBy} are already pending.`
  return { ...outcome, decision: 'deny', decidedBy: 'approval', retry: 'after_approval', reason, hold: null }
}
