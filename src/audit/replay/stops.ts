import type { JsonObject } from '../../base/json.ts'
import { GLOBAL, isInForce, type KillSwitch } from '../../killswitch/killswitch.ts'
import { SYSTEM_CHAIN } from '../chain.ts'
import { isAdminKey } from './actors.ts'
import { readStop } from './forms.ts'
import { unknownFault } from './keys.ts'
import { broken, type Change, changedRecord, type Fault, namesOf, type State } from './state.ts'

/** The fault in an entry about a stop, of whose actor is known that it may stop. */
export function stopFault(state: State, type: string, change: Change, actor: JsonObject): Fault | undefined {
  const before = state.stops.get(change.id)
  const isNew = type === 'killswitch.triggered' && change.changes.revision === 1
  if (before === undefined && !isNew) return unknownFault(state, `stop ${change.id} had not been triggered`)
  const stop = readStop(changedRecord(state, change))
  if (stop === undefined) return broken('form', 'the stop that it leaves is malformed')
  const isGlobal = stop.level === 'L4'
  if (stop.target !== (isGlobal ? GLOBAL : state.chain) || isGlobal !== (state.chain === SYSTEM_CHAIN))
    return broken('type', 'the stop belongs to another chain')
  if (isGlobal && actor.kind === 'key' && !isAdminKey(state, actor))
    return broken('role', 'only an admin stops every tenant, and ends that')
  if (isNew) return triggeredFault(before, stop)
  if (before === undefined || stop.revision !== before.revision + 1)
    return broken('record', `stop ${stop.id} is not what it was`)
  if (!isInForce(before)) return broken('stopped', `stop ${stop.id} had been ended`)
  if (type === 'killswitch.triggered')
    return namesOf(change.changes) === 'revision' ? undefined : broken('form', 'a repeated stop changes nothing')
  return recoveredFault(stop, change)
}

function triggeredFault(before: KillSwitch | undefined, stop: KillSwitch): Fault | undefined {
  if (before !== undefined) return broken('record', `stop ${stop.id} had been triggered before`)
  return isInForce(stop) ? undefined : broken('form', 'a new stop is in force')
}

function recoveredFault(stop: KillSwitch, { changes }: Change): Fault | undefined {
  if (namesOf(changes) !== 'comment recoveredAt recoveredBy revision' || isInForce(stop))
    return broken('form', 'it is not the end of a stop, or changes more')
  return undefined
}
