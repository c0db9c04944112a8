import type { Deps } from '../actions/deps.ts'
import { type KeyUses, rememberKeyUses } from '../actions/keys/uses.ts'
import type { Logger } from './log.ts'
import type { Tasks } from './repeat.ts'
import type { Trail } from './trail.ts'

/** How old what the file has of the last uses of keys becomes. */
const RECORD_MS = 60_000

/** Remembers when keys were used last, and writes it down where nobody waits for it. */
export function keepKeyUses(
  deps: Deps,
  trail: Pick<Trail, 'isWriting'>,
  { log, tasks }: { log: Logger; tasks: Tasks },
): KeyUses & { close(): Promise<void> } {
  const uses = rememberKeyUses(deps)
  const record = async (): Promise<void> => {
    if (trail.isWriting()) await uses.flush()
  }
  tasks.every('record last uses of keys', RECORD_MS, record)
  return {
    ...uses,
    /** It is worth no failed stop: what cannot be written is lost. */
    async close() {
      try {
        await record()
      } catch (error) {
        log.warn({ cause: String(error) }, 'when keys were used last could not be written')
      }
    },
  }
}
