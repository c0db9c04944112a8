import * as Type from '#typebox'
import { killSwitchHistory, killSwitchStatus, operatorOf, trigger } from '../../actions/killswitch/killswitch.ts'
import { previewStop } from '../../actions/killswitch/preview.ts'
import { recover } from '../../actions/killswitch/recover.ts'
import { PreviewStopRequest, RecoverRequest, TriggerRequest } from '../../actions/killswitch/request.ts'
import { Paging, pageOf, queryShape } from '../query.ts'
import { route } from '../route.ts'
import * as shapes from './shapes.ts'

export const killSwitchRoutes = {
  killSwitchStatus: route({
    data: shapes.KillSwitchStatus,
    example: shapes.killSwitchStatusExample,
    answer: (services, { caller }) => killSwitchStatus(services, caller.chain),
  }),
  killSwitchHistory: route({
    query: queryShape(Paging),
    data: Type.Array(shapes.PastStop),
    paged: true,
    example: shapes.killSwitchHistoryExample,
    reply: async (services, { caller, query }) => {
      const { items, page } = killSwitchHistory(services, caller.chain, pageOf(query, { limit: 50, max: 500 }))
      return { data: items, page }
    },
  }),
  previewStop: route({
    body: PreviewStopRequest,
    data: shapes.StopPreview,
    example: shapes.previewStopExample,
    answer: (services, { caller, body }) => previewStop(services, operatorOf(caller), body),
  }),
  trigger: route({
    body: TriggerRequest,
    data: shapes.Triggered,
    example: shapes.triggerExample,
    answer: (services, { caller, body, idempotency }) =>
      trigger(services, operatorOf(caller), body, { caller, idempotency }),
  }),
  recover: route({
    body: RecoverRequest,
    data: shapes.KillSwitchStatus,
    errors: ['kill_switch_inactive'],
    example: shapes.recoverExample,
    answer: (services, { caller, body, idempotency }) =>
      recover(services, operatorOf(caller), body, { caller, idempotency }),
  }),
}
