import * as Type from '#typebox'
import { exportBundle, exportEnvelope } from '../../actions/evidence/evidence.ts'
import { exportPolicyChange } from '../../actions/evidence/policy-change.ts'
import { VerifyBundleRequest, verifyEvidence } from '../../actions/evidence/verify.ts'
import { GateError } from '../../base/errors.ts'
import { BUNDLE_LIMITS } from '../body.ts'
import { EXAMPLE, oneOf } from '../common-shapes.ts'
import { queryShape } from '../query.ts'
import { byteRoute, route } from '../route.ts'
import * as shapes from './shapes.ts'

const FormatQuery = queryShape({
  format: Type.Optional(oneOf(['bundle', 'dsse'], 'An envelope of DSSE in place of the bundle.')),
})

export const evidenceRoutes = {
  exportBundle: route({
    id: { description: 'Id of the decision, or of its audit entry.', example: EXAMPLE.decision },
    query: FormatQuery,
    data: shapes.TrustBundle,
    errors: ['not_found', 'archived'],
    example: shapes.exportBundleExample,
    answer(services, { caller, id, query }) {
      const exported = query.format === 'dsse' ? exportEnvelope : exportBundle
      return exported(services, caller.chain, id)
    },
  }),
  exportPolicyChange: route({
    id: { description: 'Digest of the policy set.', example: EXAMPLE.policyDigest },
    data: shapes.PolicyChange,
    errors: ['not_found'],
    example: shapes.exportPolicyChangeExample,
    answer(services, { caller, id }) {
      if (caller.environment === 'test')
        throw new GateError('forbidden', 'A test key cannot read what the live trail tells of policies.')
      return exportPolicyChange(services, caller.tenantId, id)
    },
  }),
  verifyBundle: byteRoute({
    body: VerifyBundleRequest,
    limits: BUNDLE_LIMITS,
    data: shapes.BundleVerification,
    example: shapes.verifyBundleExample,
    answer: (services, { caller, bytes }) => verifyEvidence(services, caller, bytes),
  }),
}
