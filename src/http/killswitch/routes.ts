import { Type } from '#typebox'
import { killSwitchHistory } from '../../actions/killswitch/history.ts'
import { killSwitchStatus, operatorOf, recover, trigger } from '../../actions/killswitch/killswitch.ts'
import { previewStop } from '../../actions/killswitch/preview.ts'
import { PreviewStopRequest, RecoverRequest, TriggerRequest } from '../../actions/killswitch/request.ts'
import { Closed, Paging, pageOf } from '../query.ts'
import { route } from '../route.ts'
import {
  KillSwitchStatus,
  killSwitchHistoryExample,
  killSwitchStatusExample,
  PastStop,
  previewStopExample,
  recoverExample,
  StopPreview,
  Triggered,
  triggerExample,
} from './shapes.ts'

export const killSwitchRoutes = {
  killSwitchStatus: route({
    data: KillSwitchStatus,
    example: killSwitchStatusExample,
    handle: (services, { caller }) => ({ data: killSwitchStatus(services, caller.chain) }),
  }),
  killSwitchHistory: route({
    query: Type.Object(Paging, Closed),
    data: Type.Array(PastStop),
    paged: true,
    example: killSwitchHistoryExample,
    handle: (services, { caller, query }) => {
      const { items, page } = killSwitchHistory(services, caller.chain, pageOf(query, { limit: 50, max: 500 }))
      return { data: items, page }
    },
  }),
  previewStop: route({
    body: PreviewStopRequest,
    data: StopPreview,
    example: previewStopExample,
    handle: async (services, { caller, body }) => ({ data: await previewStop(services, operatorOf(caller), body) }),
  }),
  trigger: route({
    body: TriggerRequest,
    data: Triggered,
    example: triggerExample,
    handle: async (services, { caller, body, idempotency }) => ({
      data: await trigger(services, operatorOf(caller), body, { caller, idempotency }),
    }),
  }),
  recover: route({
    body: RecoverRequest,
    data: KillSwitchStatus,
    errors: ['kill_switch_inactive'],
    example: recoverExample,
    handle: async (services, { caller, body, idempotency }) => ({
      data: await recover(services, operatorOf(caller), body, { caller, idempotency }),
    }),
  }),
}
