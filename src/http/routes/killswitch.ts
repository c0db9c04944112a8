import { killSwitchStatus, operatorOf, recover, trigger } from '../../actions/killswitch.ts'
import { RecoverRequest, TriggerRequest } from '../../actions/killswitch-request.ts'
import { route } from '../route.ts'
import {
  KillSwitchStatus,
  killSwitchStatusExample,
  recoverExample,
  Triggered,
  triggerExample,
} from '../shapes/killswitch.ts'

export const killSwitchRoutes = {
  killSwitchStatus: route({
    data: KillSwitchStatus,
    example: killSwitchStatusExample,
    handle: (services, { caller }) => ({ data: killSwitchStatus(services, caller.chain) }),
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
