import { Type } from '#typebox'
import { CreateKeyRequest, createKey, listKeys, revokeKey } from '../../actions/keys.ts'
import { route } from '../route.ts'
import { EXAMPLE } from '../shapes/common.ts'
import { CreatedKey, createKeyExample, Key, listKeysExample, revokeKeyExample } from '../shapes/keys.ts'

export const keyRoutes = {
  listKeys: route({
    data: Type.Array(Key),
    example: listKeysExample,
    handle: (services, { caller }) => ({ data: listKeys(services, caller) }),
  }),
  createKey: route({
    body: CreateKeyRequest,
    data: CreatedKey,
    errors: ['forbidden'],
    example: createKeyExample,
    handle: async (services, { caller, body }) => ({
      data: await createKey(services, { actor: caller.actor, caller }, caller.tenantId, body),
    }),
  }),
  revokeKey: route({
    params: { id: { description: 'Id of the key.', example: EXAMPLE.key } },
    data: Key,
    errors: ['not_found'],
    example: revokeKeyExample,
    handle: async (services, { caller, params }) => ({
      data: await revokeKey(services, { actor: caller.actor, caller }, params.id ?? ''),
    }),
  }),
}
