import { type KillSwitch, stopsEverOver, stopView } from '../../killswitch/killswitch.ts'
import type { Deps } from '../deps.ts'

/** All stops that were ever over this chain, ended ones too, newest first. A repeated trigger adds none. */
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
  // A clock set back between trigger and recovery must not give a negative duration.
  const durationMs = recoveredAt === null ? null : Math.max(0, Date.parse(recoveredAt) - Date.parse(triggeredAt))
  return { ...stopView(stop), recoveredAt, recoveredBy, comment, durationMs }
}
