import type { Deps } from '../actions/deps.ts'
import { persistUnwritten } from '../actions/killswitch/killswitch.ts'
import { imposeUnwritten, type Kept, type UnwrittenStop } from '../actions/killswitch/unwritten.ts'
import { NoReserve, stopReserve } from '../files/stop-reserve.ts'
import type { KillSwitch } from '../killswitch/killswitch.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from './log.ts'
import { stopReservePath } from './paths.ts'
import type { Background } from './repeat.ts'

/** Maximum delay before a stop that a command put into the reserve takes effect here. */
const POLL_INTERVAL_MS = 200

export interface UnwrittenStops {
  /** Keeps a stop that could not be written, and writes it as soon as that can be done. */
  keep(unwritten: UnwrittenStop): Kept
  /** @returns stops in force that end with the process */
  close(): KillSwitch[]
}

/** Puts the stops of the reserve in force, those of an earlier process too, and has them written. */
export function keepStops(deps: Deps, { config, log, tasks }: Background, secret: () => Uint8Array): UnwrittenStops {
  const { store } = deps
  const reserve = stopReserve(stopReservePath(config), secret)
  const attempt = attempts(log)
  const unwritten = new Map<string, UnwrittenStop>()

  const write = (one: UnwrittenStop): void => {
    const { id } = one.stop
    if (unwritten.has(id)) return
    unwritten.set(id, one)
    tasks.untilDone('persist kill switch', async () => {
      await persistUnwritten(deps, one)
      unwritten.delete(id)
      attempt(undefined, () => reserve.release(id))
    })
  }
  const adopt = (): void => {
    const { stops, unreadable } = reserve.read()
    if (unreadable > 0)
      log.warn(
        { unreadable },
        'the reserve has stops that cannot be read; trigger again the stops that must stay in force',
      )
    for (const one of stops) {
      const { id: stop, level, scope } = one.stop
      if (imposeUnwritten(deps, one)) log.warn({ stop, level, scope }, 'a stop of the reserve is in force')
      write(one)
    }
    // Their file was removed since, or there was no room.
    for (const { id } of without(store, stops)) {
      const one = unwritten.get(id)
      if (one !== undefined) reserve.keep(one)
    }
  }
  attempt(undefined, adopt)
  tasks.every('read the reserve of stops', POLL_INTERVAL_MS, async () => attempt(undefined, adopt))
  return {
    keep(one) {
      const isKept = attempt(false, () => reserve.keep(one))
      log.error({ stop: one.stop.id, isKept }, 'a stop is in force, but the store cannot be written')
      write(one)
      return isKept ? 'in the reserve' : 'nowhere'
    },
    close() {
      const { stops } = attempt({ stops: [], unreadable: 0 }, reserve.read)
      reserve.close()
      const lost = without(store, stops)
      const kept = store.imposed().filter((stop) => !lost.includes(stop))
      const named = kept.map(({ id, level, scope }) => ({ id, level, scope }))
      if (kept.length > 0) log.warn({ stops: named }, 'stops are kept in the reserve alone; the next start writes them')
      return lost
    },
  }
}

/** Uses of the reserve, whose failure is logged: without it, a stop on a full disk ends with the process. */
function attempts(log: Logger) {
  return <T>(otherwise: T, work: () => T): T => {
    try {
      return work()
    } catch (error) {
      const cause = error instanceof NoReserve ? `${error.message} ${error.cause}` : String(error)
      log.error({ cause }, 'the reserve of stops cannot be used')
      return otherwise
    }
  }
}

/** Stops in force that are neither in the data file nor among these of the reserve. */
function without(store: Store, stops: readonly UnwrittenStop[]): KillSwitch[] {
  const held = new Set(stops.map(({ stop }) => stop.id))
  return store.imposed().filter(({ id }) => !held.has(id))
}
