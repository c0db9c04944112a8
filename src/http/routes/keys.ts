import { CreateKeyRequest, createKey, listKeys, revokeKey } from '../../actions/keys.ts'
import { route } from '../route.ts'

export const keyRoutes = {
  listKeys: route({ handle: (services, { caller }) => ({ data: listKeys(services, caller) }) }),
  createKey: route({
    body: CreateKeyRequest,
    handle: async (services, { caller, body }) => ({
      data: await createKey(services, { actor: caller.actor, caller }, caller.tenantId, body),
    }),
  }),
  revokeKey: route({
    handle: async (services, { caller, params }) => ({
      data: await revokeKey(services, { actor: caller.actor, caller }, params.id ?? ''),
    }),
  }),
}
