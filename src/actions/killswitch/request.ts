import { type Static, Type } from '#typebox'
import { MAX_TEXT, TenantIdField } from '../../gate/request.ts'
import { LEVELS, type Level } from '../../killswitch/killswitch.ts'

const Name = Type.String({ minLength: 1, maxLength: 256 })
export const LevelField = Type.Unsafe<Level>({
  type: 'string',
  enum: [...LEVELS],
  title: 'KillSwitchLevel',
  description: 'L1 an action, L2 a domain, L3 the tenant, L4 everything.',
})
const Scope = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 128,
    description: 'L1 the action or glob, L2 the domain; L3 (the tenant) and L4 (`global`) need none.',
  }),
)
const Text = Type.String({ minLength: 1, maxLength: MAX_TEXT })
const Closed = { additionalProperties: false }

/** Bodies of trigger and recover. */
export const TriggerRequest = Type.Object(
  { tenantId: TenantIdField, level: LevelField, scope: Scope, reason: Text, triggeredBy: Name },
  { ...Closed, title: 'TriggerRequest' },
)
export const RecoverRequest = Type.Object(
  {
    tenantId: TenantIdField,
    id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The stop that is meant: one that came in its place meanwhile is not ended.',
      }),
    ),
    level: Type.Optional(LevelField),
    scope: Scope,
    recoveredBy: Name,
    comment: Text,
  },
  { ...Closed, title: 'RecoverRequest' },
)
/** Body of a preview. */
export const PreviewStopRequest = Type.Object(
  { tenantId: TenantIdField, level: LevelField, scope: Scope },
  { ...Closed, title: 'PreviewStopRequest' },
)
export type PreviewStopRequest = Static<typeof PreviewStopRequest>
export type TriggerRequest = Static<typeof TriggerRequest>
export type RecoverRequest = Static<typeof RecoverRequest>
