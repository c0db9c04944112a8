import { Type } from '#typebox'
import { BundleSchema } from '../../evidence/bundle.ts'
import { EXAMPLE, exampleContext, exampleFactors } from './common.ts'

export const TrustBundle = BundleSchema

export const BundleVerification = Type.Object(
  {
    valid: Type.Boolean(),
    signatureValid: Type.Boolean(),
    chainValid: Type.Boolean(),
    timestampValid: Type.Boolean(),
    reasons: Type.Array(Type.String(), { description: 'A sentence for each check that failed.' }),
  },
  { title: 'BundleVerification' },
)

const base64Of32 = 'PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw='
const bundle = {
  bundleId: EXAMPLE.bundle,
  version: '0.1',
  decision: {
    id: EXAMPLE.decision,
    action: 'payment.transfer',
    decision: 'require_approval',
    timestamp: EXAMPLE.time,
  },
  context: {
    originalRequest: { tenantId: 'acme', action: 'payment.transfer', context: exampleContext },
    riskAssessment: { score: 35.1, factors: exampleFactors },
  },
  auditChain: [{ hash: EXAMPLE.hash, previousHash: EXAMPLE.previousHash }],
  exportedAt: EXAMPLE.later,
  proof: {
    v: 1 as const,
    origin: '5b1c9a0e4f7d4c2e9b3a6d8f0e1c2b3a',
    entries: [
      {
        chain: 'acme/live',
        commits: { decision: EXAMPLE.digest, grounds: EXAMPLE.digest, request: EXAMPLE.digest, risk: EXAMPLE.digest },
        id: EXAMPLE.entry,
        prev: EXAMPLE.previousHash,
        seq: 7,
        ts: EXAMPLE.time,
        type: 'gate.decision',
        v: 1 as const,
      },
    ],
    index: 0,
    grounds: { rule: 'steered-transfer', decidedBy: 'hold_rule', policyDigest: EXAMPLE.policyDigest },
    openings: { decision: base64Of32, request: base64Of32, risk: base64Of32, grounds: base64Of32 },
  },
  signatures: {
    service: {
      algorithm: 'ed25519',
      publicKey: base64Of32,
      signature: `${base64Of32.slice(0, -1)}${base64Of32.slice(0, -1)}==`,
    },
  },
}

export const exportBundleExample = { data: bundle }
export const verifyBundleExample = {
  body: { bundle },
  data: { valid: true, signatureValid: true, chainValid: true, timestampValid: true, reasons: [] },
}
