import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { principalOf } from '../../keys/apikey.ts'
import { isPlan } from '../../keys/plan.ts'
import { isTenantId } from '../../keys/tenant.ts'
import { SYSTEM_CHAIN } from '../chain.ts'
import { countsIn } from '../events.ts'
import { tenantOf } from './actors.ts'
import { text, time } from './forms.ts'
import { unknownFault } from './keys.ts'
import type { RecordName } from './rules.ts'
import { broken, type Change, type Fault, namesOf, recordOf, type State } from './state.ts'

/** The fault in an entry about a tenant, a policy set or a signing key. */
export function otherFault(state: State, type: string, change: Change, name: RecordName): Fault | undefined {
  const { id, changes } = change
  const before = recordOf(state, name, id) as JsonObject | undefined
  const isNew = type === 'tenant.created' || type === 'key.created' || (name === 'policy' && changes.revision === 1)
  if (isNew && (before !== undefined || changes.revision !== 1))
    return broken('record', `the ${name} ${id} had been made before`)
  if (!isNew && before === undefined) return unknownFault(state, `the ${name} ${id} had not been made`)
  if (!isNew && changes.revision !== Number(before?.revision) + 1)
    return broken('record', `the ${name} ${id} is not what it was`)
  const after = { ...before, ...changes }
  if (after.id !== id) return broken('form', `the ${name} ${id} has another id inside`)
  if (name === 'tenant') return tenantFault(type, change, after)
  return name === 'policy' ? policyFault(state, change, after) : signingKeyFault(state, type, change, after)
}

function tenantFault(type: string, { id, changes }: Change, { plan, createdAt }: JsonObject): Fault | undefined {
  const names = type === 'tenant.created' ? 'createdAt id plan revision' : 'plan revision'
  const isOne = isTenantId(id) && typeof plan === 'string' && isPlan(plan) && time(createdAt)
  return namesOf(changes) === names && isOne ? undefined : broken('form', 'it is not a tenant, or changes more')
}

/** The policies of a tenant stand in its live chain, and decide in both worlds. */
function policyFault({ chain }: State, { id, changes }: Change, { digest, loadedAt }: JsonObject): Fault | undefined {
  const { tenantId, environment } = tenantOf(chain) ?? {}
  if (id !== tenantId || environment !== 'live') return broken('type', 'the policies are those of another tenant')
  const names = changes.revision === 1 ? 'digest id loadedAt revision' : 'digest loadedAt revision'
  return namesOf(changes) === names && text(digest) && time(loadedAt)
    ? undefined
    : broken('form', 'it is not a policy set, or changes more')
}

/** Signatures are verified apart; here, only that one log key at a time is in use. */
function signingKeyFault(state: State, type: string, { id, changes }: Change, after: JsonObject): Fault | undefined {
  if (state.chain !== SYSTEM_CHAIN) return broken('type', 'signing keys belong in another chain')
  if (type === 'key.created') {
    const isSecond = isInUse(after) && [...state.others.values()].some(isInUse)
    return isSecond ? broken('record', 'another log key is in use') : undefined
  }
  const names = type === 'key.revoked' ? 'revision revokedAt' : 'retiredAt revision'
  if (namesOf(changes) !== names) return broken('form', 'it is not the end of a signing key, or changes more')
  return type === 'key.revoked' && isInUse(after) ? broken('state', `the log key ${id} was in use`) : undefined
}

function isInUse({ purpose, retiredAt }: JsonObject): boolean {
  return purpose === 'log' && retiredAt === null
}

/** The fault in the place of a change among the entries of the chains in which it counts, which only grow. */
export function lengthsFault({ chain: own, lengths }: State, data: JsonObject | undefined): Fault | undefined {
  // A trail without lanes stands alone.
  const told = data?.lengths ?? (own === SYSTEM_CHAIN ? undefined : {})
  if (!isJsonObject(told)) return broken('form', 'it does not state the lengths of the other chains')
  for (const [chain, length] of [...lengths])
    if (!(Number(told[chain] ?? 0) >= length)) return broken('order', `chain ${chain} had been longer before`)
  for (const [chain, length] of Object.entries(told)) {
    if (typeof length !== 'number') return broken('form', 'the lengths of the other chains are not numbers')
    if (!countsIn(own, chain)) return broken('form', `it does not count in chain ${chain}`)
    lengths.set(chain, length)
  }
  return undefined
}

/** The fault in an entry that changes no record. */
export function plainFault({ keys }: State, type: string, data: JsonObject, actor: JsonObject): Fault | undefined {
  if (type === 'session.started')
    return data.keyId === actor.id ? undefined : broken('actor', 'the session is that of another key')
  if (type !== 'outcome.recorded') return undefined
  const key = typeof actor.id === 'string' ? keys.get(actor.id) : undefined
  return key === undefined || data.reportedBy === principalOf(key)
    ? undefined
    : broken('actor', `key ${key.id} reports as another agent`)
}
