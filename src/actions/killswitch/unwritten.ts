import type { Actor } from '../../audit/draft.ts'
import type { KillSwitch } from '../../killswitch/killswitch.ts'

/** A stop in force that the data file could not take, with who triggered it. */
export interface UnwrittenStop {
  stop: KillSwitch
  actor: Actor
}

/** Room for stops that outlives the process although the disk is full. */
export interface StopReserve {
  all(): UnwrittenStop[]
  /** On disk when it returns; false when there is no room. @throws the error of the disk */
  keep(unwritten: UnwrittenStop): boolean
  /** Makes room again, once the stop is in the data file. */
  release(id: string): void
  /** Changes with every change of the content. */
  changedAt(): number
  close(): void
}

/** Whether an unwritten stop outlives the process. */
export type Kept = 'in the reserve' | 'nowhere'

/** What the answer to a trigger says of a stop that is not in the data file. */
export const UNWRITTEN_WARNINGS: Readonly<Record<Kept, string>> = {
  'in the reserve':
    'The disk refuses: the stop is in force, and kept in the reserve; it is recorded as soon as there is room.',
  nowhere:
    'The disk refuses, and the reserve too: the stop is in force in this process alone, and ends with it. Make room before a restart.',
}
