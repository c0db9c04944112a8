import * as Type from '#typebox'
import { SINKS } from '../../actions/anchors/anchors.ts'
import { EnvironmentField } from '../../actions/keys/keys.ts'
import { LevelField } from '../../actions/killswitch/request.ts'
import { FAIL_MODES } from '../../actions/overview/fail-modes.ts'
import { MAX_SIDECARS } from '../../actions/overview/fleet.ts'
import { NEWEST } from '../../actions/overview/latency.ts'
import { MAX_DENIALS } from '../../actions/overview/overview.ts'
import { DECIDED_BY } from '../../gate/decide.ts'
import { MODES } from '../../policies/set.ts'
import { Digest, EXAMPLE, nullable, oneOf, Timestamp, textOf, titled } from '../common-shapes.ts'

const Count = Type.Integer({ minimum: 0 })
const Ms = Type.Number({ minimum: 0 })

const DecisionBucket = Type.Object(
  { at: Timestamp, allow: Count, deny: Count, requireApproval: Count },
  { title: 'DecisionBucket', description: 'Decisions from `at` on, for `bucketMs`.' },
)

const Denial = titled('Denial', {
  rule: nullable(Type.String()),
  decidedBy: textOf(DECIDED_BY, 'The step of the order of decision that decided.'),
  count: Type.Integer({ minimum: 1 }),
})

const Approvals = titled('ApprovalFigures', {
  pending: Count,
  oldestPendingAt: nullable(Timestamp),
  nextDeadlineAt: nullable(Timestamp),
  decided: Type.Object(
    { approved: Count, rejected: Count, expired: Count, cancelled: Count },
    { description: 'Ends of approvals since `from`. An approved one may have expired afterwards too.' },
  ),
  waitMs: nullable(
    Type.Object(
      { p50: Ms, p90: Ms, max: Ms },
      { description: 'Time that people took to approve or reject; null where none did.' },
    ),
  ),
})

const Audit = titled('AuditFigures', {
  entries: Type.Integer({ minimum: 0, description: 'Entries of the chain and its lanes, including pruned ones.' }),
  newestAt: nullable(Timestamp),
  lastVerified: nullable(
    Type.Object(
      { at: Timestamp, valid: Type.Boolean(), chains: Count },
      { description: 'Last verification of all chains by the service; null before the first.' },
    ),
  ),
  unanchoredEntries: nullable(
    Type.Integer({ minimum: 0, description: 'Entries of all chains that no anchor covers; null without a sink.' }),
  ),
  sinks: Type.Array(Type.Object({ sink: oneOf(SINKS), ok: Type.Boolean(), lastAt: nullable(Timestamp) })),
  fault: nullable(Type.String({ description: 'Reason why nothing is written; null while writing is allowed.' })),
})

const Posture = titled('Posture', 'Enforcement that is in force now.', {
  policies: Type.Object({
    inForce: Type.Boolean(),
    digest: nullable(Digest),
    mode: nullable(oneOf(MODES, '`observe`: the policies decide and record, and every action is allowed.')),
    loadedAt: nullable(Timestamp),
    current: Type.Boolean({ description: 'False when the newest files have faults, or there are none.' }),
    faults: Count,
  }),
  killSwitch: Type.Object({
    active: Type.Boolean(),
    level: nullable(LevelField),
    scope: nullable(Type.String()),
  }),
  environment: EnvironmentField,
  version: Type.String(),
  watching: Type.Boolean({ description: 'False when policies are read only when someone asks for it.' }),
  failModes: Type.Array(Type.Object({ situation: Type.String(), behaviour: Type.String() }, { title: 'FailMode' }), {
    description: 'Behaviour where something is missing or broken, in sentences.',
  }),
})

const Sidecar = titled('Sidecar', {
  lane: Type.Integer({ minimum: 1, description: 'Number of the lanes to which it appends.' }),
  name: Type.String({ description: 'Name of its host or pod, or what the setting `name` says; text of others.' }),
  version: Type.String(),
  startedAt: Timestamp,
  heardAt: Timestamp,
  isLive: Type.Boolean({ description: 'False once it has not been heard of for ten seconds, and once it has ended.' }),
  isSelf: Type.Boolean({ description: 'True for the one that answers.' }),
  policyDigest: nullable(Digest),
})

const Fleet = Type.Object(
  {
    live: Type.Integer({ minimum: 0, description: 'Number of live sidecars.' }),
    sidecars: Type.Array(Sidecar, {
      description: `Live sidecars first; dead ones for an hour, unless another takes their lane. At most ${MAX_SIDECARS}.`,
    }),
    sidecarsLeftOut: Count,
    policies: Type.Array(
      Type.Object({ digest: nullable(Digest), sidecars: Type.Integer({ minimum: 1 }) }, { title: 'SidecarsByDigest' }),
      { description: "Live sidecars by the digest of the tenant's policies in force there; null without any." },
    ),
    versions: Type.Array(
      Type.Object({ version: Type.String(), sidecars: Type.Integer({ minimum: 1 }) }, { title: 'SidecarsByVersion' }),
      { description: 'Live sidecars by version.' },
    ),
  },
  { description: 'Sidecars that share the store; null for a data file.' },
)

export const Overview = titled('Overview', 'State of the tenant and environment, now and in the last hours.', {
  from: Timestamp,
  to: Type.String({ format: 'date-time', description: 'The end of the newest bucket, which is not over yet.' }),
  bucketMs: Type.Integer({ minimum: 60_000 }),
  completeFrom: Type.String({
    format: 'date-time',
    description:
      'Time from which on the figures are complete: later than `from` when the chain is too busy, or was pruned.',
  }),
  decisions: Type.Array(DecisionBucket, { description: 'Every bucket from `from` to `to`, at most 96.' }),
  observed: Type.Integer({
    minimum: 0,
    description: 'Actions since `from` that were allowed only because policies were observed, not enforced.',
  }),
  denials: Type.Array(Denial, { description: `Most frequent sources of denials, at most ${MAX_DENIALS}.` }),
  denialsLeftOut: Type.Integer({ minimum: 0, description: 'Number of further rules and steps that denied something.' }),
  approvals: Approvals,
  latency: nullable(
    Type.Object(
      { count: Type.Integer({ minimum: 1 }), p50Ms: Ms, p99Ms: Ms },
      {
        description: `Latency of the newest ${NEWEST} calls of POST /gate/check that this process has answered, of all tenants, without the time spent waiting for people; null before the first.`,
      },
    ),
  ),
  audit: Audit,
  posture: Posture,
  fleet: nullable(Fleet),
})

export const overviewExample = {
  data: {
    from: '2026-11-20T13:00:00.000Z',
    to: '2026-11-21T13:00:00.000Z',
    bucketMs: 43_200_000,
    completeFrom: '2026-11-20T13:00:00.000Z',
    decisions: [
      { at: '2026-11-20T13:00:00.000Z', allow: 210, deny: 2, requireApproval: 1 },
      { at: '2026-11-21T01:00:00.000Z', allow: 96, deny: 1, requireApproval: 2 },
    ],
    observed: 0,
    denials: [{ rule: 'sanctioned', decidedBy: 'deny_rule', count: 3 }],
    denialsLeftOut: 0,
    approvals: {
      pending: 1,
      oldestPendingAt: EXAMPLE.time,
      nextDeadlineAt: EXAMPLE.later,
      decided: { approved: 1, rejected: 1, expired: 0, cancelled: 0 },
      waitMs: { p50: 41_250, p90: 318_600, max: 318_600 },
    },
    latency: { count: 312, p50Ms: 1.4, p99Ms: 6.2 },
    audit: {
      entries: 640,
      newestAt: EXAMPLE.time,
      lastVerified: { at: '2026-11-21T02:00:00.114Z', valid: true, chains: 3 },
      unanchoredEntries: 3,
      sinks: [{ sink: 'file' as const, ok: true, lastAt: EXAMPLE.time }],
      fault: null,
    },
    posture: {
      policies: {
        ...{ inForce: true, digest: EXAMPLE.policyDigest, mode: 'enforce' as const },
        ...{ loadedAt: EXAMPLE.time, current: true, faults: 0 },
      },
      killSwitch: { active: false, level: null, scope: null },
      environment: 'live' as const,
      version: '1.0.0',
      watching: true,
      failModes: [FAIL_MODES[0]],
    },
    fleet: {
      live: 1,
      sidecars: [
        {
          ...{ lane: 1, name: 'payments-7d9f4-x2x8p', version: '1.0.0', startedAt: EXAMPLE.time },
          ...{ heardAt: EXAMPLE.later, isLive: true, isSelf: true, policyDigest: EXAMPLE.policyDigest },
        },
      ],
      sidecarsLeftOut: 0,
      policies: [{ digest: EXAMPLE.policyDigest, sidecars: 1 }],
      versions: [{ version: '1.0.0', sidecars: 1 }],
    },
  },
}
