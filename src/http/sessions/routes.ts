import type { Session as OpenSession } from '../../actions/sessions/sessions.ts'
import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import { type ApiKey, principalOf } from '../../keys/apikey.ts'
import { CONSOLE_PATH } from '../../keys/console-routes.ts'
import { isAdmin } from '../../keys/roles.ts'
import { mayCall, ROUTES } from '../../keys/routes.ts'
import { route } from '../route.ts'
import type { Services } from '../services.ts'
import * as shapes from './shapes.ts'

/** Limit of the tenants that an admin can choose from. */
const MAX_TENANTS = 1000

export const sessionRoutes = {
  openSession: route({
    data: shapes.OpenedSession,
    errors: ['forbidden'],
    example: shapes.openSessionExample,
    async reply(services, { credential }) {
      const { key, by } = credential
      // A session that could open another would never end.
      if (by === 'session')
        throw new GateError('forbidden', 'Sign in with a key or a sign-in link, not with a session.')
      // Redeemed last: a request refused for its limit leaves the link usable.
      if (credential.by === 'code') services.signInCodes.redeem(credential.code)
      const { cookie, token, session } = await services.sessions.open(key, by)
      return { data: { ...sessionView(services, key, session), token }, sessionCookie: cookie }
    },
  }),
  getSession: route({
    data: shapes.SignedIn,
    example: shapes.getSessionExample,
    answer: (services, { credential }) =>
      sessionView(services, credential.key, credential.by === 'session' ? credential.session : null),
  }),
  endSession: route({
    data: shapes.SignedIn,
    errors: ['not_found'],
    example: shapes.endSessionExample,
    async reply(services, { credential }) {
      if (credential.by !== 'session') throw new GateError('not_found', 'This request has no session to end.')
      services.sessions.signOut(credential.session)
      return { data: sessionView(services, credential.key, null), sessionCookie: '' }
    },
  }),
  signInCode: route({
    data: shapes.SignInLink,
    errors: ['forbidden'],
    example: shapes.signInCodeExample,
    answer({ signInCodes }, { caller, credential: { key, by }, origin }) {
      if (by === 'session') throw new GateError('forbidden', 'Sign-in links are made with a key, not with a session.')
      const { code, endsMs } = signInCodes.make(key.id)
      // An admin names a tenant; any other key has one.
      const tenant = key.tenantId === null && caller.tenantId !== SYSTEM_CHAIN ? `@${caller.tenantId}/` : ''
      return { url: `${origin}${CONSOLE_PATH}/${tenant}#code=${code}`, expiresAt: formatTimestamp(endsMs) }
    },
  }),
}

function sessionView({ store }: Services, key: ApiKey, session: OpenSession | null) {
  const { id, name, identity, groups, roles, environment, tenantId } = key
  const tenants = isAdmin(roles) ? [...store.state().tenants.keys()].sort().slice(0, MAX_TENANTS) : [tenantId ?? '']
  return {
    keyId: id,
    name,
    identity,
    principal: principalOf(key),
    groups,
    roles,
    environment,
    tenants,
    may: shapes.SESSION_ROUTES.filter((route) => mayCall(ROUTES[route], roles)),
    session: session && {
      id: session.id,
      startedAt: formatTimestamp(session.startedMs),
      idleEndsAt: formatTimestamp(Math.min(session.idleEnds.atMs, session.ends.atMs)),
      endsAt: formatTimestamp(session.ends.atMs),
    },
  }
}
