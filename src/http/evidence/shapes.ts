import * as Type from '#typebox'
import { type Bundle, BundleShape } from '../../evidence/bundle.ts'
import { CHECKS } from '../../evidence/checks.ts'
import { EnvelopeShape } from '../../evidence/envelope.ts'
import { type PolicyChange as Change, PolicyChangeShape } from '../../evidence/policy-change.ts'
import { EXAMPLE, nullable, oneOf, titled } from '../common-shapes.ts'

/** Bundle, or with `format=dsse` the same in an envelope. */
export const TrustBundle = Type.Unsafe<object>({ anyOf: [BundleShape.schema, EnvelopeShape.schema] })

export const PolicyChange = Type.Unsafe<object>(PolicyChangeShape.schema)

export const BundleVerification = titled('BundleVerification', {
  valid: Type.Boolean(),
  signatureValid: Type.Boolean(),
  chainValid: Type.Boolean(),
  timestampValid: Type.Boolean(),
  verdict: oneOf(['valid', 'invalid', 'incomplete'], 'Incomplete: no check failed, but not all could be made.'),
  assurance: oneOf(['self-asserted', 'bracketed'], 'Bracketed: somebody outside holds its checkpoint.'),
  redacted: Type.Array(Type.String(), { description: 'Parts that have been erased, and are no longer proved.' }),
  erasedSince: Type.Array(Type.String(), {
    description: 'Parts that the bundle shows, and that were erased here after its export.',
  }),
  observed: Type.Optional(
    Type.String({
      description: 'Decision of the policies, where they were only observed: it was allowed all the same.',
    }),
  ),
  reasons: Type.Array(Type.String(), { description: 'A sentence for each check that is not ok.' }),
  checks: Type.Array(
    Type.Object({
      check: oneOf(Object.keys(CHECKS)),
      part: oneOf(['all', 'signature', 'chain', 'time']),
      result: oneOf(['ok', 'failed', 'unknown']),
      why: nullable(Type.String()),
    }),
  ),
})

const base64Of32 = 'PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw='
const signature = `${base64Of32.slice(0, -1)}${base64Of32.slice(0, -1)}==`
const origin = 'gate-5b1c9a0e4f7d4c2e9b3a'
const bundle: Bundle = {
  bundleId: EXAMPLE.bundle,
  version: '1.0',
  decision: {
    id: EXAMPLE.decision,
    action: 'payment.transfer',
    decision: 'require_approval',
    timestamp: EXAMPLE.time,
  },
  context: {
    originalRequest: { tenantId: 'acme', action: 'payment.transfer', context: EXAMPLE.context },
    riskAssessment: { score: 35.1, factors: EXAMPLE.factors },
  },
  auditChain: [{ hash: EXAMPLE.hash, previousHash: EXAMPLE.previousHash }],
  exportedAt: EXAMPLE.later,
  proof: {
    v: 1,
    origin,
    entries: [
      {
        chain: 'acme/live',
        commits: { decision: EXAMPLE.digest, grounds: EXAMPLE.digest, request: EXAMPLE.digest, risk: EXAMPLE.digest },
        id: EXAMPLE.entry,
        prev: EXAMPLE.previousHash,
        seq: 7,
        ts: EXAMPLE.time,
        type: 'gate.decision',
        v: 1,
      },
    ],
    inclusion: [base64Of32, base64Of32, base64Of32],
    checkpoint: `${origin}/acme/live\n8\n${base64Of32}\n\n— ${origin} ${signature}\n`,
    grounds: { rule: 'steered-transfer', decidedBy: 'hold_rule', policyDigest: EXAMPLE.policyDigest },
    openings: { decision: base64Of32, request: base64Of32, risk: base64Of32, grounds: base64Of32 },
    approval: [],
    keys: [],
    beside: [],
    certificate: {
      statement: {
        origin,
        purpose: 'bundle',
        publicKey: base64Of32,
        notBefore: EXAMPLE.time,
        notAfter: EXAMPLE.later,
      },
      signedBy: base64Of32,
      signature,
    },
    rotations: [],
    redacted: [],
  },
  signatures: { service: { algorithm: 'ed25519', publicKey: base64Of32, signature } },
}

export const exportBundleExample = { data: bundle }

const policyChange: Change = {
  ...{ bundleId: EXAMPLE.bundle, version: '1.0', kind: 'policy-change', tenantId: 'acme' },
  ...{ policyDigest: EXAMPLE.policyDigest, exportedAt: EXAMPLE.later },
  entries: [
    {
      header: {
        ...{ chain: 'acme/live', commits: { actor: EXAMPLE.digest, data: EXAMPLE.digest }, id: EXAMPLE.entry },
        ...{ prev: EXAMPLE.previousHash, seq: 7, ts: EXAMPLE.time, type: 'policy.loaded', v: 1 },
      },
      actor: { salt: base64Of32, value: { kind: 'service', id: 'service' } },
      data: { salt: base64Of32, value: { record: 'policy', changes: { digest: EXAMPLE.policyDigest } } },
      inclusion: bundle.proof.inclusion,
    },
  ],
  leftOut: 0,
  proof: {
    ...{ v: 1, origin, checkpoint: bundle.proof.checkpoint, certificate: bundle.proof.certificate },
    rotations: [],
  },
  signatures: bundle.signatures,
}
export const exportPolicyChangeExample = { data: policyChange }
export const verifyBundleExample = {
  body: { bundle },
  data: {
    valid: true,
    signatureValid: true,
    chainValid: true,
    timestampValid: true,
    verdict: 'valid' as const,
    assurance: 'self-asserted' as const,
    redacted: [],
    erasedSince: [],
    reasons: [],
    checks: Object.entries(CHECKS)
      .filter(([check]) => check !== 'files')
      .map(([check, part]) => ({ check, part, result: 'ok' as const, why: null })),
  },
}
