import { Type } from '#typebox'
import { oneOf } from './common.ts'

export const Health = Type.Object({ status: oneOf(['ok']) }, { title: 'Health' })
export const Readiness = Type.Object(
  {
    ready: Type.Boolean(),
    policySetsOutdated: Type.Integer({ minimum: 0, description: 'Sets whose newest files have faults.' }),
  },
  { title: 'Readiness' },
)

export const healthzExample = { data: { status: 'ok' as const } }
export const readyzExample = { data: { ready: true, policySetsOutdated: 0 } }
