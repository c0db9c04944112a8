import { type KillSwitch, stopsEverOver, stopView } from '../../killswitch/killswitch.ts'
import type { Deps } from '../deps.ts'

/** The stops that were ever over this chain, newest first, those that have been ended too. A trigger that repeats one makes none. */
export function killSwitchHistory(
  { store }: Deps,
  chain: string,
  { limit, offset }: { limit: number; offset: number },
) {
  const stops = stopsEverOver(store.state().switches, chain)
  const items = stops.slice(offset, offset + limit).map(pastView)
  return { items, page: { limit, offset, total: stops.length } }
}

function pastView(stop: KillSwitch) {
  const { triggeredAt, recoveredAt, recoveredBy, comment } = stop
  // A clock that was put back between the two makes no stop of less than no time.
  const durationMs = recoveredAt === null ? null : Math.max(0, Date.parse(recoveredAt) - Date.parse(triggeredAt))
  return { ...stopView(stop), recoveredAt, recoveredBy, comment, durationMs }
}
