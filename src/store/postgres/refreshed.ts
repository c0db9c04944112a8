import { type Memory, refreshed } from '../memory.ts'
import { runLater } from '../steps.ts'
import type { Instance } from '../verify/follow.ts'
import type { Numbers } from './chains.ts'
import type { Runner } from './database.ts'
import { assertInUse } from './fence.ts'
import { tablesOn } from './tables.ts'

/** The records as they are in a snapshot. @throws UnusableFile for a database that must not be used any more */
export async function refreshedIn(run: Runner, numbers: Numbers, memory: Memory, instance: Instance): Promise<Memory> {
  await assertInUse(run)
  return runLater(refreshed(memory, tablesOn(run, numbers), instance))
}
