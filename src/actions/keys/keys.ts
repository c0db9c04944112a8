import { randomBytes } from 'node:crypto'
import * as Type from '#typebox'
import type { Actor } from '../../audit/draft.ts'
import { ENVIRONMENTS, type Environment } from '../../base/environment.ts'
import { GateError } from '../../base/errors.ts'
import { isId } from '../../base/id.ts'
import { formatTimestamp, LAST_TIME_MS, parseRfc3339 } from '../../base/time.ts'
import { requestBody } from '../../gate/request.ts'
import { type ApiKey, chainOfKey } from '../../keys/apikey.ts'
import { isAdmin, ROLES, type Role } from '../../keys/roles.ts'
import { formatSecret, hashSecret, SECRET_BYTES } from '../../keys/secret.ts'
import { change, creation } from '../../store/records.ts'
import { type Caller, type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import type { KeyUses } from './uses.ts'

const Label = Type.String({ minLength: 1, maxLength: 128 })
export const RoleField = Type.Unsafe<Role>({ type: 'string', enum: [...ROLES], title: 'Role' })
export const EnvironmentField = Type.Unsafe<Environment>({
  type: 'string',
  enum: [...ENVIRONMENTS],
  title: 'Environment',
})

/** Body of POST /keys, and what `keys create` takes. */
export const CreateKeyRequest = requestBody('CreateKeyRequest', {
  roles: Type.Array(RoleField, { minItems: 1, maxItems: ROLES.length }),
  environment: Type.Optional(EnvironmentField),
  name: Type.Optional(Label),
  identity: Type.Optional(Label),
  groups: Type.Optional(Type.Array(Label, { maxItems: 32 })),
  expiresAt: Type.Optional(Type.String({ format: 'date-time', description: 'A future time with a time zone.' })),
})
export type CreateKeyRequest = Type.Static<typeof CreateKeyRequest>

/** The maker or revoker of a key: a key over HTTP, or the host's command line. */
export interface KeyMaker {
  actor: Actor
  /** Undefined for the host, which no role limits. */
  caller: Caller | undefined
}

/** The key without its hash, for answers. */
export function keyView({ hash: _, revision: __, ...shown }: ApiKey) {
  const { rotatedFrom = null, rotatedBy = null, replacedBy = null } = shown
  return { ...shown, rotatedFrom, rotatedBy, replacedBy }
}

/**
 * Makes a key. Its secret appears in the reply and nowhere else.
 *
 * @throws GateError `forbidden` when an HTTP caller asks for an admin key, or a test key for a live one
 */
export async function createKey(deps: Deps, maker: KeyMaker, tenantId: string | null, request: CreateKeyRequest) {
  const environment = request.environment ?? maker.caller?.environment ?? 'live'
  assertMayMake(maker, environment, request.roles)
  const admin = isAdmin(request.roles)
  if (admin && tenantId !== null) throw new GateError('invalid_request', 'An admin key belongs to no tenant.')
  if (!admin && tenantId === null) throw new GateError('invalid_request', 'Only an admin key can be without a tenant.')
  const nowMs = deps.clock()
  const expiresAt = request.expiresAt === undefined ? null : endOf(request.expiresAt, nowMs)
  // An identity in the form of a key id would make its holder the same requester as that key.
  if (request.identity !== undefined && isId(request.identity, 'key')) {
    const message = 'must not have the form of a key id'
    throw new GateError('invalid_request', `identity ${message}.`, { details: [{ path: '/identity', message }] })
  }
  const secret = formatSecret(environment, randomBytes(SECRET_BYTES))
  const key: ApiKey = {
    id: deps.newId('key'),
    revision: 1,
    hash: hashSecret(secret),
    tenantId,
    environment,
    roles: [...new Set(request.roles)],
    identity: request.identity ?? null,
    groups: request.groups ?? [],
    name: request.name ?? null,
    createdAt: formatTimestamp(nowMs),
    createdBy: maker.actor.id,
    expiresAt,
    revokedAt: null,
  }
  const { write, data } = creation('key', key)
  const entry = eventEntry(deps, chainOfKey(key), 'key.created', data, maker.actor)
  const submission = { guards: makerGuards(maker), writes: [write], entries: [entry] }
  return decideAndCommit(deps.store, async () => ({ submission, reply: () => ({ ...keyView(key), key: secret }) }))
}

/** Normalizes an RFC 3339 time to the form of stored keys. @throws GateError `invalid_request` unless it is to come */
function endOf(text: string, nowMs: number): string {
  const timeMs = parseRfc3339(text)
  if (timeMs !== undefined && timeMs > nowMs) return formatTimestamp(Math.min(timeMs, LAST_TIME_MS))
  const message = 'must be a future time with a time zone'
  throw new GateError('invalid_request', `expiresAt ${message}, such as 2030-01-31T00:00:00Z.`, {
    details: [{ path: '/expiresAt', message }],
  })
}

function assertMayMake({ caller }: KeyMaker, environment: Environment, roles: readonly Role[]): void {
  if (isAdmin(roles) && environment !== 'live') throw new GateError('invalid_request', 'Admin keys are live keys.')
  if (caller === undefined) return
  if (isAdmin(roles)) throw new GateError('forbidden', 'Create admin keys with the command line on the host.')
  assertReaches(caller, environment)
}

function assertReaches(caller: Caller, environment: Environment): void {
  if (caller.environment === 'test' && environment === 'live') {
    throw new GateError('forbidden', 'A test key manages test keys only.')
  }
}

/** Keys of the caller's tenant, oldest first, with their last use; a test key sees test keys only. */
export async function listKeys(deps: Deps & { keyUses: KeyUses }, caller: Caller) {
  const keys = tenantKeys(deps, caller.tenantId).filter(
    ({ environment }) => caller.environment === 'live' || environment === 'test',
  )
  return listed(keys, await deps.keyUses.lastOf(keys.map(({ id }) => id)))
}

/** @param uses last use of each key */
export function listed(keys: readonly ApiKey[], uses: ReadonlyMap<string, string>) {
  return keys.map((key) => ({ ...keyView(key), lastUsedAt: uses.get(key.id) ?? null }))
}

export function tenantKeys(deps: Pick<Deps, 'store'>, tenantId: string | undefined): ApiKey[] {
  return Array.from(deps.store.state().keys.values())
    .filter((key) => tenantId === undefined || key.tenantId === tenantId)
    .sort((a, b) => a.id.localeCompare(b.id))
}

/**
 * A key that the maker may end and replace.
 *
 * @throws GateError `not_found`, also for a key of another tenant or an admin key over HTTP; `forbidden` for a live key
 *   and a test key that asks
 */
export function managedKey({ store }: Deps, { caller }: KeyMaker, id: string): ApiKey {
  const key = store.state().keys.get(id)
  const isReachable = caller === undefined || (key?.tenantId === caller.tenantId && !isAdmin(key.roles))
  if (key === undefined || !isReachable) throw new GateError('not_found', 'There is no such key.')
  if (caller !== undefined) assertReaches(caller, key.environment)
  return key
}

/** Ends a key at once; revoking it again changes nothing. @throws GateError as `managedKey` */
export function revokeKey(deps: Deps, maker: KeyMaker, id: string) {
  return decideAndCommit(deps.store, async () => {
    const key = managedKey(deps, maker, id)
    if (key.revokedAt !== null) return { submission: null, reply: () => keyView(key) }
    const { record, write, data } = change('key', key, { revokedAt: formatTimestamp(deps.clock()) })
    const entry = eventEntry(deps, chainOfKey(key), 'key.revoked', data, maker.actor)
    return {
      submission: { guards: makerGuards(maker), writes: [write], entries: [entry] },
      reply: () => keyView(record),
    }
  })
}

export function makerGuards({ caller }: KeyMaker) {
  return caller === undefined ? [] : [{ kind: 'keyActive' as const, keyId: caller.key.id }]
}
