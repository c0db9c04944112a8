import type { Actor } from '../../audit/draft.ts'
import type { KillSwitch } from '../../killswitch/killswitch.ts'
import type { Deps } from '../deps.ts'

/** A stop in force that the data file could not take, with the actor that triggered it. */
export interface UnwrittenStop {
  stop: KillSwitch
  actor: Actor
}

interface Reserved {
  stops: UnwrittenStop[]
  /** Slots that are neither free nor of the log key in use: stops may be lost in them. */
  unreadable: number
}

/** Room for stops that outlives the process although the disk is full. */
export interface StopReserve {
  read(): Reserved
  /** On disk when it returns; false when there is no room. @throws the error of the disk */
  keep(unwritten: UnwrittenStop): boolean
  /** Makes room again, once the stop is in the data file. */
  release(id: string): void
  close(): void
}

/** Puts a stop of the reserve in force in this process. @returns false for one that is known */
export function imposeUnwritten({ store }: Deps, { stop }: UnwrittenStop): boolean {
  if (store.state().switches.some(({ id }) => id === stop.id)) return false
  store.impose(stop)
  return true
}

/** Whether an unwritten stop outlives the process. */
export type Kept = 'in the reserve' | 'nowhere'

/** Warning in the answer to a trigger, for a stop that is not in the store. */
export const UNWRITTEN_WARNINGS: Readonly<Record<Kept, string>> = {
  'in the reserve':
    'The store cannot be written now: the stop is in force and kept in the reserve, and is recorded as soon as possible.',
  nowhere:
    'Neither the store nor the reserve can be written now: the stop is in force in this process only and ends with it. Repair the disk before a restart.',
}
