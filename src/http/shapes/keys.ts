import { type Static, Type } from '#typebox'
import { EnvironmentField, RoleField } from '../../actions/keys.ts'
import { EXAMPLE, id, nullable, Timestamp } from './common.ts'

const members = {
  id: id('key', 'Names the key; not a secret.'),
  tenantId: nullable(Type.String({ description: 'null for admin keys, which reach every tenant.' })),
  environment: EnvironmentField,
  roles: Type.Array(RoleField),
  identity: nullable(Type.String({ description: 'Who holds it; approvals by one identity count once.' })),
  groups: Type.Array(Type.String()),
  name: nullable(Type.String()),
  createdAt: Timestamp,
  createdBy: Type.String({ description: 'The key that made it, or `host:<uid>`.' }),
  expiresAt: nullable(Timestamp),
  revokedAt: nullable(Timestamp),
  rotatedFrom: nullable(Type.String({ description: 'The first key of its line, when it came by rotation.' })),
  replacedBy: nullable(Type.String({ description: 'The key that came after it by rotation.' })),
}

export const Key = Type.Object(members, { title: 'Key', description: 'A key without its secret.' })
export const CreatedKey = Type.Object(
  { ...members, key: Type.String({ pattern: '^sk_(live|test)_[0-9A-Za-z]{49}$', description: 'Shown this once.' }) },
  { title: 'CreatedKey', description: 'A new key with its secret.' },
)

const key: Static<typeof Key> = {
  id: EXAMPLE.key,
  tenantId: 'acme',
  environment: 'live',
  roles: ['agent'],
  identity: null,
  groups: [],
  name: 'billing-bot',
  createdAt: EXAMPLE.time,
  createdBy: EXAMPLE.voter,
  expiresAt: null,
  revokedAt: null,
  rotatedFrom: null,
  replacedBy: null,
}

export const listKeysExample = { data: [key] }
export const createKeyExample = {
  body: { roles: ['agent' as const], name: 'billing-bot' },
  // Put together here, so that no scanner takes the example for a key.
  data: { ...key, key: `sk_live_${'0'.repeat(49)}` },
}
export const revokeKeyExample = { data: { ...key, revokedAt: EXAMPLE.later } }
