import { GateError } from '../../base/errors.ts'
import type { Caller } from '../deps.ts'
import { requestBody } from '../request-body.ts'
import type { PolicyDescription, PolicyRegistry } from './registry.ts'

/** Body of POST /policies/reload. */
export const ReloadPoliciesRequest = requestBody('ReloadPoliciesRequest', {})

/**
 * Reads the folder of the caller's tenant now. A refused set does not fail the request: the description states the
 * faults and the set in force.
 *
 * @throws GateError `forbidden` for a test key, since the policies of both worlds are the same
 */
export async function reloadPolicies(policies: PolicyRegistry, caller: Caller): Promise<PolicyDescription> {
  if (caller.environment === 'test')
    throw new GateError('forbidden', 'A test key cannot reload policies, which decide for live agents too.')
  await policies.reload(caller.tenantId, caller.actor)
  return policies.describe(caller)
}
