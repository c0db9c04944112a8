import { isActive } from '../../keys/apikey.ts'
import { DEFAULT_PLAN, PLANS, STATUS_LIMIT } from '../../keys/plan.ts'
import type { Caller, Deps } from '../deps.ts'
import { tenantKeys } from './keys.ts'

/**
 * The plan of the caller's tenant, and its usage in the caller's environment.
 *
 * @param remaining requests that the plan has left now; null for an unlimited one
 */
export function usage(deps: Deps, { tenantId, environment }: Caller, remaining: number | null) {
  const nowMs = deps.clock()
  const plan = deps.store.state().tenants.get(tenantId)?.plan ?? DEFAULT_PLAN
  const keys = tenantKeys(deps, tenantId).filter((key) => key.environment === environment)
  const active = keys.filter((key) => isActive(key, nowMs)).length
  const limit = PLANS[plan]
  return {
    plan,
    environment,
    requestsPerMinute: Number.isFinite(limit) ? limit : null,
    remaining,
    statusRequestsPerMinute: STATUS_LIMIT,
    keys: { active, ended: keys.length - active },
  }
}
