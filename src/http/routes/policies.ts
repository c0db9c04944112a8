import { ReloadPoliciesRequest, reloadPolicies } from '../../actions/reload-policies.ts'
import { ValidatePoliciesRequest } from '../../actions/validate-policies.ts'
import { POLICY_LIMITS } from '../body.ts'
import { route } from '../route.ts'
import {
  listPoliciesExample,
  PolicyState,
  PolicyValidation,
  reloadPoliciesExample,
  validatePoliciesExample,
} from '../shapes/policies.ts'

export const policyRoutes = {
  listPolicies: route({
    data: PolicyState,
    example: listPoliciesExample,
    handle: (services, { caller }) => ({ data: services.policies.describe(caller) }),
  }),
  validatePolicies: route({
    body: ValidatePoliciesRequest,
    limits: POLICY_LIMITS,
    data: PolicyValidation,
    example: validatePoliciesExample,
    handle: async (services, { caller, body }) => ({ data: await services.validatePolicies(caller, body) }),
  }),
  // 200 for a set that is refused: the attempt was made, and the answer says what is in force and why.
  reloadPolicies: route({
    body: ReloadPoliciesRequest,
    bodyOptional: true,
    data: PolicyState,
    example: reloadPoliciesExample,
    handle: async ({ policies }, { caller }) => ({ data: await reloadPolicies(policies, caller) }),
  }),
}
