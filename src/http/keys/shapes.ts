import * as Type from '#typebox'
import { EnvironmentField, RoleField } from '../../actions/keys/keys.ts'
import { EXAMPLE, id, nullable, Timestamp, titled } from '../common-shapes.ts'

const members = {
  id: id('key', 'Names the key; not a secret.'),
  tenantId: nullable(Type.String({ description: 'null for admin keys, which reach every tenant.' })),
  environment: EnvironmentField,
  roles: Type.Array(RoleField),
  identity: nullable(Type.String({ description: 'Holder of the key; approvals by one identity count once.' })),
  groups: Type.Array(Type.String()),
  name: nullable(Type.String()),
  createdAt: Timestamp,
  createdBy: Type.String({ description: 'The key that made it, or `host:<uid>`.' }),
  expiresAt: nullable(Timestamp),
  revokedAt: nullable(Timestamp),
  rotatedFrom: nullable(Type.String({ description: 'The first key of its line, when it came by rotation.' })),
  rotatedBy: nullable(
    Type.String({
      description: 'Key of another holder that created its secret, or the secret of an earlier key of its line.',
    }),
  ),
  replacedBy: nullable(Type.String({ description: 'The key that came after it by rotation.' })),
}

export const Key = Type.Object(members, { title: 'Key', description: 'A key without its secret.' })
export const ListedKey = titled('ListedKey', 'A key without its secret, and when it was used last.', {
  ...members,
  lastUsedAt: nullable(
    Type.Unsafe<string>({
      ...Timestamp,
      description:
        'Time of the last request with the key; null without one. After a crash, it lags by a minute at most.',
    }),
  ),
})
const Secret = Type.String({ pattern: '^sk_(live|test)_[0-9A-Za-z]{49}$', description: 'Shown this once.' })
export const CreatedKey = Type.Object(
  { ...members, key: Secret },
  { title: 'CreatedKey', description: 'A new key with its secret.' },
)
export const RotatedKey = Type.Object(
  { ...members, key: Secret, replaces: Key },
  { title: 'RotatedKey', description: 'A new key with its secret, and the one that it replaces.' },
)

const key: Type.Static<typeof Key> = {
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
  rotatedBy: null,
  replacedBy: null,
}

// Joined here, so that no scanner takes the example for a key.
const secret = `sk_live_${'0'.repeat(49)}`

export const listKeysExample = { data: [{ ...key, lastUsedAt: EXAMPLE.later }] }
export const createKeyExample = {
  body: { roles: ['agent' as const], name: 'billing-bot' },
  data: { ...key, key: secret },
}
export const revokeKeyExample = { data: { ...key, revokedAt: EXAMPLE.later } }
export const rotateKeyExample = {
  body: { overlapMinutes: 60 },
  data: {
    ...key,
    id: EXAMPLE.nextKey,
    createdAt: EXAMPLE.later,
    rotatedFrom: EXAMPLE.key,
    rotatedBy: EXAMPLE.voter,
    key: secret,
    replaces: { ...key, expiresAt: EXAMPLE.hourLater, replacedBy: EXAMPLE.nextKey },
  },
}
