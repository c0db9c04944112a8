import * as Type from '#typebox'
import { CreateKeyRequest, createKey, listKeys, revokeKey } from '../../actions/keys/keys.ts'
import { overlapMsOf, RotateKeyRequest, rotateKey } from '../../actions/keys/rotate.ts'
import { EXAMPLE } from '../common-shapes.ts'
import { route } from '../route.ts'
import * as shapes from './shapes.ts'

const id = { description: 'Id of the key.', example: EXAMPLE.key }

export const keyRoutes = {
  listKeys: route({
    data: Type.Array(shapes.ListedKey),
    example: shapes.listKeysExample,
    answer: (services, { caller }) => listKeys(services, caller),
  }),
  createKey: route({
    body: CreateKeyRequest,
    data: shapes.CreatedKey,
    errors: ['forbidden'],
    example: shapes.createKeyExample,
    answer: (services, { caller, body }) => createKey(services, { actor: caller.actor, caller }, caller.tenantId, body),
  }),
  rotateKey: route({
    id,
    body: RotateKeyRequest,
    bodyOptional: true,
    data: shapes.RotatedKey,
    errors: ['not_found'],
    example: shapes.rotateKeyExample,
    answer: (services, { caller, id, body }) =>
      rotateKey(services, { actor: caller.actor, caller }, id, overlapMsOf(body)),
  }),
  revokeKey: route({
    id,
    data: shapes.Key,
    errors: ['not_found'],
    example: shapes.revokeKeyExample,
    answer: (services, { caller, id }) => revokeKey(services, { actor: caller.actor, caller }, id),
  }),
}
