import { Type } from 'typebox'
import { DIAGNOSTICS } from '../../policy/diagnostics.ts'
import { Digest, EXAMPLE, nullable, oneOf, Timestamp } from './common.ts'

const Diagnostic = Type.Object(
  {
    file: Type.String(),
    line: Type.Integer({ minimum: 1 }),
    column: Type.Integer({ minimum: 1 }),
    endColumn: Type.Optional(Type.Integer({ minimum: 1 })),
    severity: oneOf(['error', 'warning']),
    code: oneOf(Object.keys(DIAGNOSTICS) as (keyof typeof DIAGNOSTICS)[]),
    message: Type.String(),
    path: Type.String(),
    suggestion: nullable(Type.String()),
  },
  { title: 'Diagnostic', description: 'One fault of a policy set.' },
)

export const PolicyState = Type.Object(
  {
    digest: nullable(Digest),
    loadedAt: nullable(Timestamp),
    files: Type.Array(Type.String()),
    rules: Type.Integer({ minimum: 0 }),
    factors: Type.Integer({ minimum: 0 }),
    domains: Type.Array(Type.String()),
    actions: Type.Array(Type.String()),
    current: Type.Boolean({ description: 'False when the newest files have faults, or there are none.' }),
    faults: Type.Array(Type.String(), { description: 'Why the newest files are not in force.' }),
    diagnostics: Type.Array(Diagnostic),
  },
  { title: 'PolicyState', description: 'The policy set in force, and what is wrong with the newest files.' },
)

export const listPoliciesExample = {
  data: {
    digest: EXAMPLE.policyDigest,
    loadedAt: EXAMPLE.time,
    files: ['main.yaml', 'payments.yaml'],
    rules: 8,
    factors: 5,
    domains: ['finance'],
    actions: ['payment.refund', 'payment.transfer'],
    current: true,
    faults: [],
    diagnostics: [],
  },
}
