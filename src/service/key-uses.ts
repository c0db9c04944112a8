import type { Deps } from '../actions/deps.ts'
import { type KeyUses, rememberKeyUses } from '../actions/keys/uses.ts'
import type { Background } from './repeat.ts'
import type { Trail } from './trail.ts'

/** Interval at which the last uses of keys are written. */
const RECORD_MS = 60_000

export interface KeyUseTask extends KeyUses {
  /** Writes the last uses now. @throws GateError of the store */
  record(): Promise<void>
}

/** Remembers when keys were last used, and writes it in the background. */
export function keepKeyUses(deps: Deps, trail: Pick<Trail, 'isWriting'>, { tasks }: Background): KeyUseTask {
  const uses = rememberKeyUses(deps)
  const record = async (): Promise<void> => {
    if (trail.isWriting()) await uses.flush()
  }
  tasks.every('record last uses of keys', RECORD_MS, record)
  return { ...uses, record }
}
