import { DryRunRequest, dryRun } from '../../actions/policies/dry-run.ts'
import { ReloadPoliciesRequest, reloadPolicies } from '../../actions/policies/registry.ts'
import { shadowState } from '../../actions/policies/shadow.ts'
import { ValidatePoliciesRequest } from '../../actions/policies/validate.ts'
import { DRY_RUN_LIMITS, POLICY_LIMITS } from '../body.ts'
import { route } from '../route.ts'
import * as shapes from './shapes.ts'

export const policyRoutes = {
  listPolicies: route({
    data: shapes.PolicyState,
    example: shapes.listPoliciesExample,
    answer: (services, { caller }) => services.policies.describe(caller),
  }),
  shadowPolicies: route({
    data: shapes.ShadowState,
    example: shapes.shadowPoliciesExample,
    answer: (services, { caller }) => shadowState(services, caller),
  }),
  policySource: route({
    data: shapes.PolicyTexts,
    example: shapes.policySourceExample,
    answer: ({ policies }, { caller }) => policies.texts(caller),
  }),
  validatePolicies: route({
    body: ValidatePoliciesRequest,
    limits: POLICY_LIMITS,
    data: shapes.PolicyValidation,
    example: shapes.validatePoliciesExample,
    answer: (services, { caller, body }) => services.validatePolicies(caller, body),
  }),
  // 200 for a draft with errors: they are the answer.
  dryRun: route({
    body: DryRunRequest,
    limits: DRY_RUN_LIMITS,
    data: shapes.DryRun,
    example: shapes.dryRunExample,
    answer: (services, { caller, body }) => dryRun(services, caller, body),
  }),
  // 200 for a set that was refused: the answer says which set is in force and why.
  reloadPolicies: route({
    body: ReloadPoliciesRequest,
    bodyOptional: true,
    data: shapes.PolicyState,
    example: shapes.reloadPoliciesExample,
    answer: ({ policies }, { caller }) => reloadPolicies(policies, caller),
  }),
}
