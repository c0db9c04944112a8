import type { Static } from '#typebox'
import type { Bounded, PolicySource } from '../../authoring/load/files.ts'
import { notValidated, type PolicyValidation } from '../../authoring/load/validation.ts'
import { requestBody } from '../../gate/request.ts'
import type { Caller } from '../deps.ts'
import { DraftFields, draftSource, type OnDraft } from './drafts.ts'

export const ValidatePoliciesRequest = requestBody('ValidatePoliciesRequest', DraftFields)
export type ValidatePoliciesRequest = Static<typeof ValidatePoliciesRequest>

export type ValidatePolicies = (caller: Caller, request: ValidatePoliciesRequest) => Promise<PolicyValidation>

/**
 * Validates a policy set from texts alone: opens no file, keeps and records nothing.
 *
 * @param validate loads the set, isolated from the service
 * @returns a function that throws GateError `invalid_request` for a name that no folder could have, `overloaded` when
 *   too many ask at once
 */
export function policyValidator(
  onDraft: OnDraft,
  validate: (source: PolicySource) => Promise<Bounded<PolicyValidation>>,
): ValidatePolicies {
  return async ({ tenantId }, request) => {
    const source = draftSource(tenantId, request)
    const outcome = await onDraft(tenantId, () => validate(source))
    return 'fault' in outcome ? notValidated(source, outcome.fault) : outcome.value
  }
}
