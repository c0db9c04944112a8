import { canonicalJson } from '../../base/canonical.ts'
import { isId } from '../../base/id.ts'
import type { JsonObject } from '../../base/json.ts'
import { type ApiKey, chainOfKey, lineOf } from '../../keys/apikey.ts'
import { isAdmin } from '../../keys/roles.ts'
import { endedFault, isAdminKey } from './actors.ts'
import { readKey } from './forms.ts'
import type { Place } from './place.ts'
import { broken, type Change, changedRecord, type Fault, namesOf, type State } from './state.ts'

/** The fault in an entry about an API key, of whose actor is known that it may manage keys. */
export function keyFault(
  state: State,
  place: Place,
  type: string,
  change: Change,
  actor: JsonObject,
): Fault | undefined {
  const before = state.keys.get(change.id)
  const key = readKey(changedRecord(state, change))
  if (key === undefined) return broken('form', 'the key that it leaves is malformed')
  if (chainOfKey(key) !== place.chain) return broken('type', 'the key belongs to another chain')
  const reach = reachFault(state, key, actor)
  if (reach !== undefined) return reach
  if (type === 'key.created') return madeFault(state, key, before, actor)
  if (before === undefined) return unknownFault(state, `key ${change.id} had not been made`)
  return type === 'key.revoked' ? revokedFault(before, key, change) : rotatedFault(place, before, key, change)
}

/** A record that entries before may have made, where these are not at hand. */
export function unknownFault(state: State, what: string): Fault | undefined {
  if (state.knows.own) return broken('record', what)
  state.unjudged += 1
  return undefined
}

/** An admin key is made and ended on the host only, and a test key manages test keys only. */
function reachFault(state: State, key: ApiKey, actor: JsonObject): Fault | undefined {
  if (actor.kind !== 'key') return undefined
  if (isAdmin(key.roles)) return broken('role', 'an admin key is made and ended on the host only')
  const by = typeof actor.id === 'string' ? state.keys.get(actor.id) : undefined
  if (by === undefined || isAdminKey(state, actor)) return undefined
  const isWithin = by.tenantId === key.tenantId && (by.environment === 'live' || key.environment === 'test')
  return isWithin ? undefined : broken('actor', `key ${by.id} manages no keys of this tenant and world`)
}

function madeFault(state: State, key: ApiKey, before: ApiKey | undefined, actor: JsonObject): Fault | undefined {
  if (before !== undefined || key.revision !== 1) return broken('record', `key ${key.id} had been made before`)
  if (key.roles.length === 0 || key.revokedAt !== null || key.replacedBy !== undefined)
    return broken('form', 'a new key has roles and no end')
  if (key.rotatedFrom !== undefined) return successorFault(state, key)
  if (key.createdBy !== actor.id) return broken('form', 'the key names another maker')
  if (key.rotatedBy !== undefined) return broken('form', 'nobody has rotated a new key')
  if (key.identity !== null && isId(key.identity, 'key')) return broken('form', 'its identity is the id of a key')
  return undefined
}

/** A successor has everything of the key whose end the entry before records, but the secret. */
function successorFault({ rotated, knows }: State, key: ApiKey): Fault | undefined {
  if (rotated?.successor !== key.id)
    return knows.own ? broken('order', `no key was replaced by key ${key.id}`) : undefined
  const { before, by } = rotated
  const { id, hash, createdAt } = key
  const rotatedBy = by === null ? {} : { rotatedBy: by }
  const expected = { ...before, id, revision: 1, hash, createdAt, rotatedFrom: lineOf(before), ...rotatedBy }
  return canonicalJson(expected) === canonicalJson(key)
    ? undefined
    : broken('record', 'a new secret of a key changes what the key is')
}

function revokedFault(before: ApiKey, key: ApiKey, { changes }: Change): Fault | undefined {
  if (before.revokedAt !== null || key.revision !== before.revision + 1)
    return broken('record', `key ${key.id} is not what it was`)
  if (namesOf(changes) !== 'revision revokedAt' || key.revokedAt === null)
    return broken('form', 'it is not the end of a key, or changes more')
  return undefined
}

function rotatedFault(place: Place, before: ApiKey, key: ApiKey, { changes }: Change): Fault | undefined {
  if (before.replacedBy !== undefined || key.revision !== before.revision + 1)
    return broken('record', `key ${key.id} is not what it was`)
  if (namesOf(changes) !== 'expiresAt replacedBy revision' || key.expiresAt === null || key.replacedBy === undefined)
    return broken('form', 'it is not the rotation of a key, or changes more')
  if (before.expiresAt !== null && key.expiresAt > before.expiresAt)
    return broken('record', `key ${key.id} is good for longer than before`)
  return endedFault(before, place)
}

/** State that the next entry must continue. */
export function noteRotation(state: State, { seq }: Place, before: ApiKey | undefined, actor: JsonObject): void {
  const { replacedBy } = (before && state.keys.get(before.id)) ?? {}
  if (before === undefined || replacedBy === undefined) return
  const by = actor.kind === 'key' && typeof actor.id === 'string' ? state.keys.get(actor.id) : undefined
  const isOther = by !== undefined && lineOf(by) !== lineOf(before)
  state.rotated = { seq, before, successor: replacedBy, by: isOther ? by.id : null }
}
