import {
  killSwitchStatus,
  operatorOf,
  RecoverRequest,
  recover,
  TriggerRequest,
  trigger,
} from '../../actions/killswitch.ts'
import { route } from '../route.ts'

export const killSwitchRoutes = {
  killSwitchStatus: route({ handle: (services, { caller }) => ({ data: killSwitchStatus(services, caller.chain) }) }),
  trigger: route({
    body: TriggerRequest,
    handle: async (services, { caller, body, idempotency }) => ({
      data: await trigger(services, operatorOf(caller), body, { caller, idempotency }),
    }),
  }),
  recover: route({
    body: RecoverRequest,
    handle: async (services, { caller, body, idempotency }) => ({
      data: await recover(services, operatorOf(caller), body, { caller, idempotency }),
    }),
  }),
}
