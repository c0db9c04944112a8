import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import { type KillSwitch, recordOfStop, stopsOver } from '../../killswitch/killswitch.ts'
import { chainOfStop, change } from '../../store/records.ts'
import type { Submission } from '../../store/submission.ts'
import { type Deps, decideAndCommit, eventEntry, stateNow } from '../deps.ts'
import { bindTo, earlierUse } from '../idempotency.ts'
import { isImposed, killSwitchStatus, type Once, type Operator } from './killswitch.ts'
import type { RecoverRequest } from './request.ts'

/**
 * Ends a stop: the one named by id, level and scope, else the strongest.
 *
 * @throws GateError `kill_switch_inactive` when there is none such, `forbidden` for L4 without admin
 */
export function recover(deps: Deps, operator: Operator, request: RecoverRequest, once?: Once) {
  return decideAndCommit(deps.store, async () => {
    // Read before the earlier use: without one, no commit of this recovery is in it.
    const { switches } = deps.store.state()
    const earlier = once && (await earlierUse(deps.store, once.caller, once.idempotency))
    if (earlier !== undefined) {
      // The use is read from the store, which is ahead of the memory.
      await stateNow(deps.store)
      return { submission: null, reply: () => killSwitchStatus(deps, operator.chain) }
    }
    const stop = stopToEnd(deps, switches, operator, request)
    const { write, data } = change('switch', stop, {
      recoveredBy: request.recoveredBy,
      recoveredAt: formatTimestamp(deps.clock()),
      comment: request.comment,
    })
    const entry = eventEntry(deps, chainOfStop(stop), 'killswitch.recovered', data, operator.actor)
    const bound = once && bindTo(deps, once.caller, once.idempotency, undefined, entry.id)
    const submission: Submission = {
      guards: [...(once ? [{ kind: 'keyActive' as const, keyId: once.caller.key.id }] : []), ...(bound?.guards ?? [])],
      writes: [write, ...(bound?.writes ?? [])],
      entries: [entry],
    }
    return { submission, reply: () => killSwitchStatus(deps, operator.chain) }
  })
}

function inactiveText(id: string | undefined): string {
  return id === undefined
    ? 'No such kill switch is active.'
    : `The kill switch ${id} has been ended already, or is not of that level and scope; nothing was changed.`
}

function stopToEnd(
  deps: Deps,
  switches: readonly KillSwitch[],
  operator: Operator,
  { id, level, scope }: RecoverRequest,
): KillSwitch {
  const stop = stopsOver(switches, operator.chain).find(
    (item) =>
      (id === undefined || item.id === id) &&
      (level === undefined || item.level === level) &&
      (scope === undefined || item.scope === scope),
  )
  if (stop === undefined) throw new GateError('kill_switch_inactive', inactiveText(id))
  if (stop.level === 'L4' && !operator.admin) throw new GateError('forbidden', 'Only an admin may end an L4 stop.')
  if (isImposed(deps, stop)) {
    const message = 'The stop is in force but not in the store yet; it can be ended once a service has written it.'
    throw new GateError('audit_unavailable', message)
  }
  return recordOfStop(stop)
}
