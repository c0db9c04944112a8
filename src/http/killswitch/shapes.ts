import * as Type from '#typebox'
import { LevelField } from '../../actions/killswitch/request.ts'
import { EXAMPLE, id, nullable, Timestamp, titled } from '../common-shapes.ts'

const Scope = Type.String({ description: 'L1 the action or glob, L2 the domain, L3 the tenant, L4 `global`.' })

const stopMembers = {
  id: id('killSwitch', 'Names the stop in the trail.'),
  level: LevelField,
  scope: Scope,
  triggeredAt: Timestamp,
  triggeredBy: Type.String(),
  reason: Type.String(),
}
export const Stop = Type.Object(stopMembers, { title: 'KillSwitch' })

export const PastStop = Type.Object(
  {
    ...stopMembers,
    recoveredAt: nullable(Timestamp),
    recoveredBy: nullable(Type.String({ description: 'As claimed in the request.' })),
    comment: nullable(Type.String({ description: 'Comment given when it was ended.' })),
    durationMs: nullable(Type.Integer({ minimum: 0, description: 'Time during which it was in force.' })),
  },
  {
    title: 'PastKillSwitch',
    description: 'A stop that is or was in force; members about its end are null until then.',
  },
)

const status = {
  active: Type.Boolean(),
  level: nullable(LevelField),
  scope: nullable(Scope),
  triggeredAt: Type.Optional(Timestamp),
  triggeredBy: Type.Optional(Type.String({ description: 'As claimed in the request.' })),
  reason: Type.Optional(Type.String()),
  switches: Type.Array(Stop, { description: 'Every stop in force over the tenant, strongest first.' }),
}

export const KillSwitchStatus = Type.Object(status, {
  title: 'KillSwitchStatus',
  description: 'The strongest stop in force; `triggeredAt`, `triggeredBy` and `reason` only while there is one.',
})

const coverage = {
  covers: Type.Array(Type.String(), { description: 'Declared and recently used actions that the stop covers.' }),
  warning: nullable(
    Type.String({
      description: 'Warning that an L1 stop covers none of them, or that the store cannot be written; otherwise null.',
    }),
  ),
}

export const Triggered = titled('TriggeredKillSwitch', 'The status after the trigger, and what the stop covers.', {
  ...status,
  ...coverage,
  persisted: Type.Boolean({
    description:
      'False while the store cannot be written: the stop is in force, and writing is retried each second. `warning` says whether the stop outlives a restart.',
  }),
})

export const StopPreview = titled('KillSwitchPreview', 'Effect that a trigger would have. Nothing has been stopped.', {
  level: LevelField,
  scope: Scope,
  ...coverage,
  approvals: Type.Integer({
    minimum: 0,
    description: 'Pending approvals that it would cover: they keep their time.',
  }),
  cancels: Type.Integer({ minimum: 0, description: 'Approvals, approved and not used, that it would cancel.' }),
  moreApprovals: Type.Boolean({
    description: 'There are more open approvals than the 1,000 that were looked at, those with the earliest deadlines.',
  }),
  allowed: Type.Boolean({ description: 'True when this key may trigger it.' }),
  refusal: nullable(Type.String({ description: 'Reason why it may not; null when it may.' })),
})

const stop = {
  level: 'L2' as const,
  scope: 'finance',
  triggeredAt: EXAMPLE.time,
  triggeredBy: 'joe',
  reason: 'odd transfers',
}
const active = { active: true, ...stop, switches: [{ id: EXAMPLE.stop, ...stop }] }

export const killSwitchStatusExample = { data: active }
export const triggerExample = {
  body: { level: 'L2' as const, scope: 'finance', reason: 'odd transfers', triggeredBy: 'joe' },
  data: { ...active, covers: ['payment.refund', 'payment.transfer'], warning: null, persisted: true },
}
export const previewStopExample = {
  body: { level: 'L2' as const, scope: 'finance' },
  data: {
    level: 'L2' as const,
    scope: 'finance',
    covers: ['payment.refund', 'payment.transfer'],
    warning: null,
    approvals: 3,
    cancels: 1,
    moreApprovals: false,
    allowed: true,
    refusal: null,
  },
}
export const killSwitchHistoryExample = {
  data: [
    {
      id: EXAMPLE.stop,
      ...stop,
      recoveredAt: EXAMPLE.later,
      recoveredBy: 'joe',
      comment: 'transfers were legitimate',
      durationMs: 1_799_975,
    },
  ],
}
export const recoverExample = {
  body: { recoveredBy: 'joe', comment: 'transfers were legitimate' },
  data: { active: false, level: null, scope: null, switches: [] },
}
