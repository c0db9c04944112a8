import * as Type from '#typebox'
import { MAX_TEXT, requestBody } from '../../gate/request.ts'
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

export const TriggerRequest = requestBody('TriggerRequest', {
  level: LevelField,
  scope: Scope,
  reason: Text,
  triggeredBy: Name,
})
export const RecoverRequest = requestBody('RecoverRequest', {
  id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Id of the stop to end: a stop that has replaced it stays in force.',
    }),
  ),
  level: Type.Optional(LevelField),
  scope: Scope,
  recoveredBy: Name,
  comment: Text,
})
export const PreviewStopRequest = requestBody('PreviewStopRequest', { level: LevelField, scope: Scope })
export type PreviewStopRequest = Type.Static<typeof PreviewStopRequest>
export type TriggerRequest = Type.Static<typeof TriggerRequest>
export type RecoverRequest = Type.Static<typeof RecoverRequest>
