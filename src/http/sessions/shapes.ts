import * as Type from '#typebox'
import { EnvironmentField, RoleField } from '../../actions/keys/keys.ts'
import { type KeyedRouteId, ROUTES, type RouteRule } from '../../keys/routes.ts'
import { described, EXAMPLE, id, nullable, Timestamp, titled } from '../common-shapes.ts'

/** Routes that a signed-in browser can use; facades accept only keys. */
export const SESSION_ROUTES = Object.entries<RouteRule>(ROUTES).flatMap(([id, { roles, facade }]) =>
  // Object.entries types the names as plain strings.
  roles === 'public' || facade !== undefined ? [] : [id as KeyedRouteId],
)

const Operation = Type.Unsafe<KeyedRouteId>({ type: 'string', enum: SESSION_ROUTES, title: 'Operation' })

const members = {
  keyId: id('key', 'The key that the session was opened with, or that asks.'),
  name: nullable(Type.String()),
  identity: nullable(Type.String({ description: 'Holder of the key: approvals are recorded under this identity.' })),
  principal: Type.String({
    description: 'Principal of votes and requests with the key: its identity, else the first key of its line.',
  }),
  groups: Type.Array(Type.String()),
  roles: Type.Array(RoleField),
  environment: EnvironmentField,
  tenants: Type.Array(Type.String(), { description: 'Those that `x-tenant-id` may name, at most 1,000.' }),
  may: Type.Array(Operation, { description: 'The operations that the roles allow.' }),
  session: nullable(
    described('Null for a caller with a key.', {
      id: id('session', 'Names the session in the trail.'),
      startedAt: Timestamp,
      idleEndsAt: Type.String({
        ...Timestamp,
        description: 'End of the session, unless its user does something before.',
      }),
      endsAt: Type.String({ ...Timestamp, description: 'Latest end of the session.' }),
    }),
  ),
}

export const SignedIn = Type.Object(members, { title: 'SignedIn', description: 'The caller, and what it may do.' })

export const OpenedSession = titled('OpenedSession', {
  ...members,
  token: Type.String({
    description: 'Sent as `x-session-token` with each request of the session, beside the cookie that this answer sets.',
  }),
})

export const SignInLink = titled('SignInLink', {
  url: Type.String({ description: 'The web console, with the code in the fragment, which browsers do not send.' }),
  expiresAt: Timestamp,
})

const session: Type.Static<typeof SignedIn> = {
  keyId: EXAMPLE.voter,
  name: 'ann',
  identity: 'ann',
  principal: 'ann',
  groups: ['finance'],
  roles: ['approver'],
  environment: 'live',
  tenants: ['acme'],
  may: ['listApprovals', 'getApproval', 'approve', 'reject'],
  session: {
    id: 'ses_01m7yzz4n6v8x0z2b4d6f8h0jk',
    startedAt: EXAMPLE.time,
    idleEndsAt: EXAMPLE.later,
    endsAt: '2026-11-22T00:05:57.423Z',
  },
}

export const getSessionExample = { data: session }
export const openSessionExample = { data: { ...session, token: '0'.repeat(43) } }
export const endSessionExample = { data: { ...session, session: null } }
export const signInCodeExample = {
  data: { url: `http://127.0.0.1:4283/console/#code=${'0'.repeat(43)}`, expiresAt: EXAMPLE.later },
}
