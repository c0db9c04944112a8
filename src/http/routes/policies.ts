import { route } from '../route.ts'

export const policyRoutes = {
  listPolicies: route({ handle: (services, { caller }) => ({ data: services.policies.describe(caller) }) }),
}
