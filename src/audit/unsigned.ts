import type { Header } from './chain.ts'

/** A service that runs signs what it decides within seconds. Time without decisions counts little: the machine may have slept. */
const MOST_ACTIVE_MS = 600_000
const COUNTED_GAP_MS = 60_000
/** `_system` gets an entry for each time that others are signed, and is itself signed every 256 entries. */
const MOST_CHECKPOINTS = 1000

/**
 * Goes along the entries that no checkpoint covers, and tells whether a service can have left so many: if not, checkpoints were
 * taken away, so that entries could be written anew that had been signed. Commands on the host may append for years unsigned.
 *
 * @returns takes the next entry; true when it is one too many
 */
export function unsignedTail(): (entry: Pick<Header, 'type' | 'ts'>) => boolean {
  let lastMs: number | undefined
  let activeMs = 0
  let checkpoints = 0
  return ({ type, ts }) => {
    if (type === 'audit.checkpoint') checkpoints += 1
    if (type === 'gate.decision') {
      const ms = Date.parse(ts)
      activeMs += Math.min(ms - (lastMs ?? ms), COUNTED_GAP_MS)
      lastMs = ms
    }
    return activeMs > MOST_ACTIVE_MS || checkpoints > MOST_CHECKPOINTS
  }
}
