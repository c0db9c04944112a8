import { type Static, Type } from '#typebox'
import { TenantIdField } from '../../gate/request.ts'
import type { Outcome, PolicySource } from '../../policy/load.ts'
import { notValidated, type PolicyValidation } from '../../policy/validation.ts'
import type { Caller } from '../deps.ts'
import { DraftFields, draftSource, type OnDraft } from './drafts.ts'

/** Body of POST /policies/validate. */
export const ValidatePoliciesRequest = Type.Object(
  { tenantId: TenantIdField, ...DraftFields },
  { additionalProperties: false, title: 'ValidatePoliciesRequest' },
)
export type ValidatePoliciesRequest = Static<typeof ValidatePoliciesRequest>

export type ValidatePolicies = (caller: Caller, request: ValidatePoliciesRequest) => Promise<PolicyValidation>

/**
 * Says what a policy set would be, from texts alone: no file is opened, nothing is kept or recorded.
 *
 * @param validate loads the set where it can do no harm
 * @returns a function that throws GateError `invalid_request` for a name that no folder could have, `overloaded` when
 *   too many ask at once
 */
export function policyValidator(
  onDraft: OnDraft,
  validate: (source: PolicySource) => Promise<Outcome<PolicyValidation>>,
): ValidatePolicies {
  return async ({ tenantId }, request) => {
    const source = draftSource(tenantId, request)
    const outcome = await onDraft(tenantId, () => validate(source))
    return 'fault' in outcome ? notValidated(source, outcome.fault) : outcome.value
  }
}
