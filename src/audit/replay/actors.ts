import { ENVIRONMENTS, type Environment } from '../../base/environment.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { type ApiKey, chainOfKey, isActive } from '../../keys/apikey.ts'
import { isAdmin, type Role } from '../../keys/roles.ts'
import { mayCall, type RouteRule } from '../../keys/routes.ts'
import { isLane, ownerOf, trailOf } from '../chain.ts'
import type { Place } from './place.ts'
import { broken, type Fault, type State } from './state.ts'

/** Actors that may cause entries of a type. */
export interface Who {
  host?: true
  service?: true
  /** The request by which a key does it. */
  key?: RouteRule
  /** A key that was ended meanwhile counts: what it began is finished, since it restrains. */
  evenEnded?: true
  /** A live key does it to test keys too. */
  toTestKeys?: true
}

/** A key that acts, as recorded with the entry. */
interface Acting {
  id: Json | undefined
  roles: Json | undefined
}

/** The fault in who caused the entry, by its section `actor`. */
export function actorFault(state: State, place: Place, actor: JsonObject, who: Who): Fault | undefined {
  const { kind, id, identity } = actor
  if (kind === 'host' && typeof id === 'string' && id.startsWith('host:'))
    return who.host ? undefined : broken('role', 'the host does not do this')
  if (kind === 'service' && id === 'gate-sidecar')
    return who.service ? undefined : broken('role', 'the service does not do this by itself')
  if (kind !== 'key') return broken('form', 'its actor does not exist')
  if (who.key === undefined) return broken('role', 'no key does this')
  const key = knownKey(state, place, actor as unknown as Acting, who)
  if (key === undefined || 'rule' in key) return key
  return key.identity === identity ? undefined : broken('actor', `the identity of key ${key.id} is another`)
}

/**
 * The key that acts, when it may. Undefined when it is none of those that are known, so that nothing can be said.
 */
export function knownKey(
  state: State,
  place: Place,
  { id, roles }: Acting,
  who: Pick<Who, 'key' | 'evenEnded' | 'toTestKeys'>,
): ApiKey | Fault | undefined {
  if (typeof id !== 'string' || !Array.isArray(roles)) return broken('form', 'its key is not named')
  const key = state.keys.get(id)
  if (key === undefined) {
    if (!mayBeElsewhere(state, roles, who)) return broken('actor', `key ${id} had not been made`)
    state.unjudged += 1
    return undefined
  }
  if (!equalTexts(key.roles, roles)) return broken('actor', `the roles of key ${id} are others`)
  if (!reaches(key, place.chain, who)) return broken('actor', `key ${id} is not of this tenant and world`)
  if (who.key !== undefined && !mayCall(who.key, key.roles))
    return broken('role', `key ${id} has only ${key.roles.join(', ')}`)
  return who.evenEnded ? key : (endedFault(key, place) ?? key)
}

function equalTexts(some: readonly string[], others: readonly Json[]): boolean {
  return some.length === others.length && some.every((text, i) => text === others[i])
}

/** The fault when the key had been revoked, or had expired. */
export function endedFault(key: ApiKey, { atMs }: Place): Fault | undefined {
  if (isActive(key, atMs)) return undefined
  return broken('active', `key ${key.id} ${key.revokedAt === null ? 'had expired' : 'had been revoked'}`)
}

/** True when the key may have been made in entries that are not at hand. */
function mayBeElsewhere(
  { chain, knows }: State,
  roles: readonly Json[],
  { toTestKeys }: Pick<Who, 'toTestKeys'>,
): boolean {
  if (!knows.own) return true
  return !knows.others && (isLane(chain) || roles.includes('admin') || (toTestKeys === true && chain.endsWith('/test')))
}

/** True when not every key that could act here is known. */
export function knowsAllKeys({ knows }: State): boolean {
  return knows.own && knows.others
}

function reaches(key: ApiKey, chain: string, { toTestKeys }: Pick<Who, 'toTestKeys'>): boolean {
  if (chainOfKey(key) === trailOf(chain)) return true
  const there = tenantOf(chain)
  if (there === undefined) return false
  const isWorld = key.environment === there.environment || (toTestKeys === true && key.environment === 'live')
  return isWorld && (isAdmin(key.roles) || key.tenantId === there.tenantId)
}

/** The tenant and world of a chain; undefined for `_system` and for a name that is not a chain of this service. */
export function tenantOf(chain: string): { tenantId: string; environment: Environment } | undefined {
  return ENVIRONMENTS.some((name) => trailOf(chain).endsWith(`/${name}`)) ? ownerOf(chain) : undefined
}

/** True when the actor of the entry, of which only this is asked, is an admin key. */
export function isAdminKey({ keys }: State, { id, roles }: JsonObject): boolean {
  const key = typeof id === 'string' ? keys.get(id) : undefined
  return isAdmin(key?.roles ?? (Array.isArray(roles) ? (roles as Role[]) : []))
}
