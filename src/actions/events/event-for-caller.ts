import { approvalView } from '../../approvals/view.ts'
import { principalOf } from '../../keys/apikey.ts'
import { mayReceive, mayReceiveAll } from '../../keys/event-roles.ts'
import { lengthAt, stopView } from '../../killswitch/killswitch.ts'
import type { Caller, CheckDeps } from '../deps.ts'
import type { ChainEvent } from './follow.ts'

/** The part of an event that a caller receives. */
type Extent = 'all' | 'limited' | 'nothing'

/**
 * The event for the caller, as one line of JSON; undefined when it may not receive it. The line is made once for all
 * callers of the same extent.
 */
export function eventForCaller(deps: CheckDeps, caller: Caller, event: ChainEvent): string | undefined {
  const extent = extentFor(deps, caller, event)
  if (extent === 'nothing') return undefined
  const known = event.serialized.get(extent)
  if (known !== undefined) return known
  const { id, timestamp, type: eventType } = event
  const json = JSON.stringify({ id, timestamp, eventType, data: dataOf(deps, event, extent) })
  event.serialized.set(extent, json)
  return json
}

function extentFor(
  deps: CheckDeps,
  { key, tenantId }: Caller,
  { group, type, approval, keyId, data }: ChainEvent,
): Extent {
  if (!mayReceive(group, key.roles, type)) return 'nothing'
  if (group === 'killswitch' || group === 'policy' || group === 'outcome') return 'all'
  if (mayReceiveAll(group, key.roles)) return 'all'
  if (group === 'approval') return approval?.requestedBy === principalOf(key) ? 'limited' : 'nothing'
  const asker = keyId === undefined ? undefined : deps.store.state().keys.get(keyId)
  if (asker === undefined || principalOf(asker) !== principalOf(key)) return 'nothing'
  // The disclosure that an earlier policy set allowed is not known any more.
  const set = deps.policies.get(tenantId)
  return set?.explain === 'full' && set.digest === digestIn(data) ? 'all' : 'limited'
}

function digestIn(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'policyDigest' in data ? data.policyDigest : undefined
}

function dataOf(deps: CheckDeps, event: ChainEvent, extent: Extent): unknown {
  const { group, approval, stop, data, timestamp, seq } = event
  switch (group) {
    case 'approval': {
      // As of the entry: later stops do not affect it.
      const { switches, keys } = deps.store.state()
      if (approval === undefined) return null
      const state = { keys, switches: switches.filter((one) => lengthAt(one, approval.chain) <= seq) }
      return approvalView(approval, state, Date.parse(timestamp), extent === 'all')
    }
    case 'killswitch': {
      if (stop === undefined) return null
      return { ...stopView(stop), recoveredAt: stop.recoveredAt, recoveredBy: stop.recoveredBy }
    }
    case 'gate':
      return extent === 'all' || typeof data !== 'object' || data === null ? data : { ...data, rule: null }
    case 'outcome':
    case 'policy':
      return data
  }
}
