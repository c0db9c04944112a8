import { exportBundle, VerifyBundleRequest, verifyEvidence } from '../../actions/evidence.ts'
import { BUNDLE_LIMITS } from '../body.ts'
import { route } from '../route.ts'

export const evidenceRoutes = {
  exportBundle: route({
    handle: async (services, { caller, params }) => ({
      data: await exportBundle(services, caller.chain, params.id ?? ''),
    }),
  }),
  verifyBundle: route({
    body: VerifyBundleRequest,
    limits: BUNDLE_LIMITS,
    handle: async (services, { body }) => ({ data: await verifyEvidence(services, body) }),
  }),
}
