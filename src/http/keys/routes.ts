import { Type } from '#typebox'
import { CreateKeyRequest, createKey, listKeys, revokeKey } from '../../actions/keys/keys.ts'
import { overlapMsOf, RotateKeyRequest, rotateKey } from '../../actions/keys/rotate.ts'
import { EXAMPLE } from '../common-shapes.ts'
import { route } from '../route.ts'
import {
  CreatedKey,
  createKeyExample,
  Key,
  ListedKey,
  listKeysExample,
  RotatedKey,
  revokeKeyExample,
  rotateKeyExample,
} from './shapes.ts'

const params = { id: { description: 'Id of the key.', example: EXAMPLE.key } }

export const keyRoutes = {
  listKeys: route({
    data: Type.Array(ListedKey),
    example: listKeysExample,
    handle: async (services, { caller }) => ({ data: await listKeys(services, caller) }),
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
  rotateKey: route({
    params,
    body: RotateKeyRequest,
    bodyOptional: true,
    data: RotatedKey,
    errors: ['not_found'],
    example: rotateKeyExample,
    handle: async (services, { caller, params, body }) => ({
      data: await rotateKey(services, { actor: caller.actor, caller }, params.id ?? '', overlapMsOf(body)),
    }),
  }),
  revokeKey: route({
    params,
    data: Key,
    errors: ['not_found'],
    example: revokeKeyExample,
    handle: async (services, { caller, params }) => ({
      data: await revokeKey(services, { actor: caller.actor, caller }, params.id ?? ''),
    }),
  }),
}
