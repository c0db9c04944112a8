import { Type } from '#typebox'
import { LevelField } from '../../actions/killswitch-request.ts'
import { EXAMPLE, id, nullable, Timestamp } from './common.ts'

const Scope = Type.String({ description: 'L1 the action or glob, L2 the domain, L3 the tenant, L4 `global`.' })

const Stop = Type.Object(
  {
    id: id('killSwitch', 'Names the stop in the trail.'),
    level: LevelField,
    scope: Scope,
    triggeredAt: Timestamp,
    triggeredBy: Type.String(),
    reason: Type.String(),
  },
  { title: 'KillSwitch' },
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

export const Triggered = Type.Object(
  {
    ...status,
    covers: Type.Array(Type.String(), { description: 'Declared and recently used actions that the stop covers.' }),
    warning: nullable(Type.String()),
    persisted: Type.Boolean({ description: 'False while the disk refuses: in force, and tried again each second.' }),
  },
  { title: 'TriggeredKillSwitch', description: 'The status after the trigger, and what the stop covers.' },
)

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
export const recoverExample = {
  body: { recoveredBy: 'joe', comment: 'transfers were legitimate' },
  data: { active: false, level: null, scope: null, switches: [] },
}
