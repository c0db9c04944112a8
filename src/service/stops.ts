import type { Deps } from '../actions/deps.ts'
import { persistUnwritten } from '../actions/killswitch/killswitch.ts'
import { imposeUnwritten, type Kept, type StopReserve, type UnwrittenStop } from '../actions/killswitch/unwritten.ts'
import { NoReserve, stopReserve } from '../files/stop-reserve.ts'
import type { KillSwitch } from '../killswitch/killswitch.ts'
import type { Config } from './config.ts'
import type { Logger } from './log.ts'
import { stopReservePath } from './paths.ts'
import type { Background } from './repeat.ts'

/** Maximum delay before a stop that a command put into the reserve takes effect here. */
const POLL_INTERVAL_MS = 200

export interface UnwrittenStops {
  /** Keeps a stop that could not be written, and writes it as soon as that can be done. */
  keep(unwritten: UnwrittenStop): Kept
  /** Stops in force that would end with the process. */
  lost(): KillSwitch[]
  close(): void
}

/** Puts the stops of the reserve in force, those of an earlier process too, and has them written. */
export function keepStops(deps: Deps, { config, log, tasks }: Background, secret: () => Uint8Array): UnwrittenStops {
  const { store } = deps
  const reserve = openReserve(config, log, secret)
  const kept = new Set<string>()
  const writing = new Set<string>()
  let changedAt = -1

  const write = (unwritten: UnwrittenStop): void => {
    if (writing.has(unwritten.stop.id)) return
    writing.add(unwritten.stop.id)
    tasks.untilDone('persist kill switch', async () => {
      await persistUnwritten(deps, unwritten)
      writing.delete(unwritten.stop.id)
      if (kept.delete(unwritten.stop.id)) reserve?.release(unwritten.stop.id)
    })
  }
  const adopt = (): void => {
    if (reserve === undefined || reserve.changedAt() === changedAt) return
    changedAt = reserve.changedAt()
    const { stops, unreadable } = reserve.read()
    if (unreadable > 0)
      log.warn({ unreadable }, 'the reserve has stops that cannot be read; stop again what must stay stopped')
    for (const unwritten of stops) {
      const { id: stop, level, scope } = unwritten.stop
      if (kept.has(stop)) continue
      kept.add(stop)
      if (imposeUnwritten(deps, unwritten)) log.warn({ stop, level, scope }, 'a stop of the reserve is in force')
      write(unwritten)
    }
  }
  const tryToKeep = (unwritten: UnwrittenStop): boolean => {
    try {
      return reserve?.keep(unwritten) ?? false
    } catch (error) {
      log.error({ stop: unwritten.stop.id, cause: String(error) }, 'the reserve of stops cannot be written')
      return false
    }
  }
  adopt()
  tasks.every('read the reserve of stops', POLL_INTERVAL_MS, async () => adopt())
  return {
    keep(unwritten) {
      const isKept = tryToKeep(unwritten)
      if (isKept) kept.add(unwritten.stop.id)
      log.error({ stop: unwritten.stop.id, isKept }, 'a stop is in force, but the data file cannot be written')
      write(unwritten)
      return isKept ? 'in the reserve' : 'nowhere'
    },
    lost: () => store.imposed().filter(({ id }) => !kept.has(id)),
    close: () => reserve?.close(),
  }
}

/** Without the reserve, which is logged, a stop on a full disk ends with the process. */
function openReserve(config: Config, log: Logger, secret: () => Uint8Array): StopReserve | undefined {
  try {
    return stopReserve(stopReservePath(config), secret)
  } catch (error) {
    if (!(error instanceof NoReserve)) throw error
    log.error({ cause: String(error.cause) }, error.message)
    return undefined
  }
}
