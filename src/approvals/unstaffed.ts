import { type ApiKey, isActive } from '../keys/apikey.ts'
import { mayVote } from '../keys/roles.ts'
import { enforcedRules, type PolicySet } from '../policies/set.ts'

/**
 * Approver groups that a hold of the set asks for, and that no active key of the tenant can satisfy: such a hold waits
 * until it expires. Sorted; where a hold accepts one of several groups, all of them or none.
 */
export function groupsWithoutKeys(set: PolicySet, keys: Iterable<ApiKey>, nowMs: number): string[] {
  const voters = [...keys].filter(
    (key) => (key.tenantId === set.tenant || key.tenantId === null) && mayVote(key.roles) && isActive(key, nowMs),
  )
  const staffed = new Set(voters.flatMap(({ groups }) => groups))
  const holds = enforcedRules(set).filter(({ effect }) => effect === 'require_approval')
  const asked = holds.flatMap(({ terms }) => terms.approvers)
  const unstaffed = asked.filter((groups) => !groups.some((group) => staffed.has(group)))
  return [...new Set(unstaffed.flat())].sort()
}
