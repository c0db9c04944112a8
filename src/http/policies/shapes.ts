import * as Type from '#typebox'
import { SHADOW_ORIGINS } from '../../actions/policies/shadow.ts'
import { DIAGNOSTICS } from '../../authoring/diagnostics/diagnostics.ts'
import { MAX_EXCERPT } from '../../authoring/diagnostics/quote.ts'
import { DECIDED_BY } from '../../gate/decide.ts'
import { SHADOW_FAILURES, type ShadowFailure } from '../../gate/shadow.ts'
import { EFFECTS, MODES, RETRIES } from '../../policies/set.ts'
import { Digest, EXAMPLE, nullable, oneOf, RiskFactor, Timestamp, titled } from '../common-shapes.ts'
import { Explanation, exampleExplanation } from '../decisions/explanation-shapes.ts'
import { Unevaluable } from '../gate/shapes.ts'

export const Diagnostic = titled('Diagnostic', 'One fault of a policy set.', {
  file: Type.String(),
  line: Type.Integer({ minimum: 1 }),
  column: Type.Integer({ minimum: 1 }),
  endColumn: Type.Optional(Type.Integer({ minimum: 1 })),
  severity: oneOf(['error', 'warning']),
  code: oneOf(Object.keys(DIAGNOSTICS) as (keyof typeof DIAGNOSTICS)[]),
  message: Type.String(),
  path: Type.String(),
  suggestion: nullable(Type.String()),
  excerpt: nullable(
    Type.String({
      description: `The line of the fault, of a long one ${MAX_EXCERPT} characters around it; null where no line tells anything.`,
    }),
  ),
  excerptColumn: nullable(
    Type.Integer({
      minimum: 1,
      description:
        'The column of the first character of `excerpt`: the fault stands there behind `column - excerptColumn` UTF-16 units. 1 unless the line was cut before it.',
    }),
  ),
})

export const PolicyState = titled('PolicyState', 'The policy set in force, and what is wrong with the newest files.', {
  digest: nullable(Digest),
  mode: nullable(oneOf(MODES, '`observe`: the policies decide and record, and every action is allowed.')),
  loadedAt: nullable(Timestamp),
  files: Type.Array(Type.String()),
  rules: Type.Integer({ minimum: 0 }),
  factors: Type.Integer({ minimum: 0 }),
  domains: Type.Array(Type.String()),
  actions: Type.Array(Type.String()),
  current: Type.Boolean({ description: 'False when the newest files have faults, or there are none.' }),
  watching: Type.Boolean({ description: 'False when folders are read only when someone asks for it.' }),
  checkedAt: nullable(Timestamp),
  faults: Type.Array(Type.String(), { description: 'Reasons why the newest files are not in force.' }),
  diagnostics: Type.Array(Diagnostic),
  groupsWithoutKeys: Type.Array(Type.String(), {
    description:
      'Approver groups of the set in force that no active key belongs to: such holds wait until they expire.',
  }),
})

export const listPoliciesExample = {
  data: {
    digest: EXAMPLE.policyDigest,
    mode: 'enforce' as const,
    loadedAt: EXAMPLE.time,
    files: ['main.yaml', 'payments.yaml'],
    rules: 8,
    factors: 5,
    domains: ['finance'],
    actions: ['payment.refund', 'payment.transfer'],
    current: true,
    watching: true,
    checkedAt: EXAMPLE.later,
    faults: [],
    diagnostics: [],
    groupsWithoutKeys: [],
  },
}

export const reloadPoliciesExample = { body: { tenantId: 'acme' }, ...listPoliciesExample }

const Comparison = titled('ShadowComparison', 'Decisions of a trail, and of the set in shadow.', {
  decisions: Type.Integer({ minimum: 0, description: 'Decisions that it was asked about.' }),
  matrix: Type.Array(
    Type.Object({
      from: oneOf(EFFECTS, 'The decision.'),
      to: oneOf(EFFECTS, 'Decision of the set in shadow.'),
      count: Type.Integer({ minimum: 1 }),
    }),
    { description: 'Without empty cells.' },
  ),
  failed: Type.Array(
    Type.Object({
      why: oneOf(Object.keys(SHADOW_FAILURES) as ShadowFailure[]),
      count: Type.Integer({ minimum: 1 }),
    }),
    { description: 'Decisions on which it said nothing, by the cause.' },
  ),
  complete: Type.Boolean({ description: 'False while a long trail is still counted: the next answer has more of it.' }),
})

export const ShadowState = titled('ShadowState', 'The set in shadow, which is asked beside the one in force.', {
  digest: nullable(Digest),
  origin: nullable(
    oneOf(
      SHADOW_ORIGINS,
      '`folder`: a folder of its own; `rules`: the set in force, with its rules in shadow enforced.',
    ),
  ),
  since: nullable(Type.String({ format: 'date-time', description: 'Time at which it came into shadow.' })),
  rules: Type.Array(Type.String(), {
    description: 'Rules of the set in force that are in shadow, where no folder is.',
  }),
  comparison: nullable(Comparison),
  faults: Type.Array(Type.String(), { description: 'Reasons why the folder gives no set.' }),
  diagnostics: Type.Array(Diagnostic),
})

export const shadowPoliciesExample = {
  data: {
    digest: EXAMPLE.policyDigest,
    origin: 'folder' as const,
    since: EXAMPLE.time,
    rules: [],
    comparison: {
      decisions: 8210,
      matrix: [
        { from: 'allow' as const, to: 'allow' as const, count: 8192 },
        { from: 'allow' as const, to: 'require_approval' as const, count: 18 },
      ],
      failed: [],
      complete: true,
    },
    faults: [],
    diagnostics: [],
  },
}

export const PolicyTexts = titled('PolicyTexts', 'Files and lists of the policy set in force; none without a set.', {
  digest: nullable(Digest),
  files: Type.Array(
    Type.Object({
      name: Type.String(),
      bytes: Type.Integer({ minimum: 0 }),
      text: nullable(Type.String({ description: 'Null of a file with which the texts would exceed 8 MiB.' })),
    }),
    { description: 'The policy files, in the order in which they are read.' },
  ),
  lists: Type.Array(
    Type.Object({
      path: Type.String({ description: 'As the policy writes it.' }),
      bytes: Type.Integer({ minimum: 0 }),
    }),
  ),
  diagnostics: Type.Array(Diagnostic, { description: 'Diagnostics of the newest files, which may differ from these.' }),
})

const FAULTY =
  'apiVersion: gate-sidecar/v1\ntenant: acme\nrules:\n  - {id: mail, actions: ["email.*"], efect: allow, reason: Mail is fine.}\n'

export const policySourceExample = {
  data: {
    digest: EXAMPLE.policyDigest,
    files: [{ name: 'main.yaml', bytes: 123, text: FAULTY.replace('efect', 'effect') }],
    lists: [{ path: 'lists/sanctioned.txt', bytes: 3 }],
    diagnostics: [],
  },
}

export const PolicyValidation = titled('PolicyValidation', 'The policy set as it would be, and its faults.', {
  valid: Type.Boolean({ description: 'True when no diagnostic is an error.' }),
  digest: nullable(Digest),
  files: Type.Array(Type.String(), { description: 'The policy files, in the order in which they are read.' }),
  rules: Type.Integer({ minimum: 0, description: '0 unless valid.' }),
  factors: Type.Integer({ minimum: 0, description: '0 unless valid.' }),
  diagnostics: Type.Array(Diagnostic),
})

export const validatePoliciesExample = {
  body: {
    tenantId: 'acme',
    files: [
      {
        name: 'main.yaml',
        text: FAULTY,
      },
    ],
    lists: [{ path: 'lists/sanctioned.txt', text: 'XX\n' }],
  },
  data: {
    valid: false,
    digest: null,
    files: ['main.yaml'],
    rules: 0,
    factors: 0,
    diagnostics: [
      {
        file: 'acme/main.yaml',
        line: 4,
        column: 38,
        endColumn: 43,
        severity: 'error' as const,
        code: 'GATE1101' as const,
        message: 'There is no key "efect" here.',
        path: '$.rules[0].efect',
        suggestion: 'effect',
        excerpt: '  - {id: mail, actions: ["email.*"], efect: allow, reason: Mail is fine.}',
        excerptColumn: 1,
      },
    ],
  },
}

const Verdict = titled('Verdict', 'Decision that would be made, without approvals.', {
  decision: oneOf(EFFECTS),
  reason: Type.String(),
  rule: nullable(Type.String({ description: 'The rule that decides, if one does.' })),
  decidedBy: oneOf(DECIDED_BY, 'The step of the order of decision that decides.'),
  retry: oneOf(RETRIES, 'Advice about when to ask again.'),
  riskScore: Type.Number({ minimum: 0, maximum: 100 }),
  factors: Type.Array(RiskFactor),
  unevaluable: Type.Array(Unevaluable),
  planValidated: Type.Boolean(),
  explanation: Explanation,
})

export const DryRun = titled('DryRun', 'Decision that would be made now. It is recorded nowhere.', {
  policyDigest: nullable(Digest),
  verdict: nullable(Verdict),
  diagnostics: Type.Array(Diagnostic, {
    description: 'Faults of the draft: with an error among them there is no verdict.',
  }),
})

export const dryRunExample = {
  body: { tenantId: 'acme', action: 'payment.transfer', context: EXAMPLE.context, agent: 'billing-bot' },
  data: {
    policyDigest: EXAMPLE.policyDigest,
    verdict: { ...EXAMPLE.verdict, explanation: exampleExplanation },
    diagnostics: [],
  },
}
