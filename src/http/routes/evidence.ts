import { exportBundle, VerifyBundleRequest, verifyEvidence } from '../../actions/evidence.ts'
import { BUNDLE_LIMITS } from '../body.ts'
import { route } from '../route.ts'
import { EXAMPLE } from '../shapes/common.ts'
import { BundleVerification, exportBundleExample, TrustBundle, verifyBundleExample } from '../shapes/evidence.ts'

export const evidenceRoutes = {
  exportBundle: route({
    params: { id: { description: 'Id of the decision, or of its audit entry.', example: EXAMPLE.decision } },
    data: TrustBundle,
    errors: ['not_found', 'redacted'],
    example: exportBundleExample,
    handle: async (services, { caller, params }) => ({
      data: await exportBundle(services, caller.chain, params.id ?? ''),
    }),
  }),
  verifyBundle: route({
    body: VerifyBundleRequest,
    limits: BUNDLE_LIMITS,
    data: BundleVerification,
    example: verifyBundleExample,
    handle: async (services, { body }) => ({ data: await verifyEvidence(services, body) }),
  }),
}
