import { DryRunRequest, dryRun } from '../../actions/policies/dry-run.ts'
import { ReloadPoliciesRequest, reloadPolicies } from '../../actions/policies/reload.ts'
import { ValidatePoliciesRequest } from '../../actions/policies/validate.ts'
import { DRY_RUN_LIMITS, POLICY_LIMITS } from '../body.ts'
import { route } from '../route.ts'
import { DryRun, dryRunExample } from './dry-run-shapes.ts'
import {
  listPoliciesExample,
  PolicyState,
  PolicyTexts,
  PolicyValidation,
  policySourceExample,
  reloadPoliciesExample,
  validatePoliciesExample,
} from './shapes.ts'

export const policyRoutes = {
  listPolicies: route({
    data: PolicyState,
    example: listPoliciesExample,
    handle: (services, { caller }) => ({ data: services.policies.describe(caller) }),
  }),
  policySource: route({
    data: PolicyTexts,
    example: policySourceExample,
    handle: ({ policies }, { caller }) => ({ data: policies.texts(caller) }),
  }),
  validatePolicies: route({
    body: ValidatePoliciesRequest,
    limits: POLICY_LIMITS,
    data: PolicyValidation,
    example: validatePoliciesExample,
    handle: async (services, { caller, body }) => ({ data: await services.validatePolicies(caller, body) }),
  }),
  // 200 for a draft with errors: they are the answer.
  dryRun: route({
    body: DryRunRequest,
    limits: DRY_RUN_LIMITS,
    data: DryRun,
    example: dryRunExample,
    handle: async (services, { caller, body }) => ({ data: await dryRun(services, caller, body) }),
  }),
  // 200 for a set that was refused: the answer says which set is in force and why.
  reloadPolicies: route({
    body: ReloadPoliciesRequest,
    bodyOptional: true,
    data: PolicyState,
    example: reloadPoliciesExample,
    handle: async ({ policies }, { caller }) => ({ data: await reloadPolicies(policies, caller) }),
  }),
}
