import { route } from '../route.ts'
import { listPoliciesExample, PolicyState } from '../shapes/policies.ts'

export const policyRoutes = {
  listPolicies: route({
    data: PolicyState,
    example: listPoliciesExample,
    handle: (services, { caller }) => ({ data: services.policies.describe(caller) }),
  }),
}
