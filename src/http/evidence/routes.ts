import { Type } from '#typebox'
import { exportBundle, exportEnvelope } from '../../actions/evidence/evidence.ts'
import { VerifyBundleRequest, verifyEvidence } from '../../actions/evidence/verify.ts'
import { BUNDLE_LIMITS } from '../body.ts'
import { EXAMPLE, oneOf } from '../common-shapes.ts'
import { Closed } from '../query.ts'
import { byteRoute, route } from '../route.ts'
import { BundleVerification, exportBundleExample, TrustBundle, verifyBundleExample } from './shapes.ts'

const FormatQuery = Type.Object(
  { format: Type.Optional(oneOf(['bundle', 'dsse'], 'An envelope of DSSE in place of the bundle.')) },
  Closed,
)

export const evidenceRoutes = {
  exportBundle: route({
    params: { id: { description: 'Id of the decision, or of its audit entry.', example: EXAMPLE.decision } },
    query: FormatQuery,
    data: TrustBundle,
    errors: ['not_found'],
    example: exportBundleExample,
    handle: async (services, { caller, params, query }) => {
      const exported = query.format === 'dsse' ? exportEnvelope : exportBundle
      return { data: await exported(services, caller.chain, params.id ?? '') }
    },
  }),
  verifyBundle: byteRoute({
    body: VerifyBundleRequest,
    limits: BUNDLE_LIMITS,
    data: BundleVerification,
    example: verifyBundleExample,
    handle: async (services, { caller, bytes }) => ({ data: await verifyEvidence(services, caller, bytes) }),
  }),
}
