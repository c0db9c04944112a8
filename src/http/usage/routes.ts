import * as Type from '#typebox'
import { EnvironmentField } from '../../actions/keys/keys.ts'
import { usage } from '../../actions/keys/usage.ts'
import { PLANS, type Plan, STATUS_LIMIT } from '../../keys/plan.ts'
import { nullable, oneOf, titled } from '../common-shapes.ts'
import { route } from '../route.ts'

const Count = Type.Integer({ minimum: 0 })

const Usage = titled('Usage', "The tenant's plan, and what is used of it in the environment of the key.", {
  plan: oneOf(Object.keys(PLANS) as Plan[]),
  environment: EnvironmentField,
  requestsPerMinute: nullable(
    Type.Integer({ minimum: 1, description: 'Requests that the plan allows; null for no limit.' }),
  ),
  remaining: nullable(
    Type.Integer({
      minimum: 0,
      description: 'Remaining requests, as counted by this process; null for no limit.',
    }),
  ),
  statusRequestsPerMinute: Type.Integer({ minimum: 1, description: 'Status reads that each key may make.' }),
  keys: Type.Object(
    { active: Count, ended: Count },
    { description: 'Keys of this environment; revoked or expired ones have ended.' },
  ),
})

export const usageRoutes = {
  usage: route({
    data: Usage,
    example: {
      data: {
        plan: 'pro',
        environment: 'live',
        requestsPerMinute: PLANS.pro,
        remaining: 587,
        statusRequestsPerMinute: STATUS_LIMIT,
        keys: { active: 4, ended: 1 },
      },
    },
    answer: (services, call) => usage(services, call.caller, call.planLeft()),
  }),
}
