import { existsSync } from 'node:fs'
import type { Deps } from '../actions/deps.ts'
import { sealSecret } from '../actions/evidence/signing-keys.ts'
import { persistUnwritten } from '../actions/killswitch/killswitch.ts'
import { imposeUnwritten, type StopReserve } from '../actions/killswitch/unwritten.ts'
import { counted } from '../base/counted.ts'
import { stopReserve } from '../files/stop-reserve.ts'
import type { Config } from '../service/config.ts'
import { stopReservePath } from '../service/paths.ts'
import { sealKeysOf } from '../service/store.ts'
import type { Store } from '../store/store.ts'

const NOTHING: ReturnType<StopReserve['read']> = { stops: [], unreadable: 0 }

/** The reserve of stops of this data folder; undefined before the first start of a service. */
export function reserveOf(store: Store, config: Config): StopReserve | undefined {
  const path = stopReservePath(config)
  return existsSync(path) ? stopReserve(path, () => sealSecret(store, sealKeysOf(config))) : undefined
}

/** Puts the stops of the reserve in force in this process. @returns the number of those that cannot be read */
export function imposeReserve(deps: Deps, config: Config): number {
  const reserve = reserveOf(deps.store, config)
  try {
    const { stops, unreadable } = reserve?.read() ?? NOTHING
    for (const unwritten of stops) imposeUnwritten(deps, unwritten)
    return unreadable
  } finally {
    reserve?.close()
  }
}

/**
 * Writes the stops of the reserve into the data file, as a start does.
 *
 * @returns the number of those that cannot be read
 * @throws GateError of the store
 */
export async function writeReserve(deps: Deps, config: Config): Promise<number> {
  const reserve = reserveOf(deps.store, config)
  try {
    const { stops, unreadable } = reserve?.read() ?? NOTHING
    for (const unwritten of stops) {
      imposeUnwritten(deps, unwritten)
      await persistUnwritten(deps, unwritten)
      reserve?.release(unwritten.stop.id)
    }
    return unreadable
  } finally {
    reserve?.close()
  }
}

export function unreadableLines(unreadable: number): string[] {
  if (unreadable === 0) return []
  return [
    `WARNING: stops.reserve has ${counted(unreadable, 'stop')} that cannot be read; trigger them again if they must stay in force.`,
  ]
}
