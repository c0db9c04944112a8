import type { Header } from './entry.ts'

/**
 * Limit of unsigned activity: a running service signs within seconds. Time without decisions counts little, since the
 * machine may have slept.
 */
const MOST_ACTIVE_MS = 600_000
const COUNTED_GAP_MS = 60_000
/** Limit of unsigned checkpoint entries: `_system` gets one at each signing, and is itself signed every 256 entries. */
const MOST_CHECKPOINTS = 1000

/**
 * Counts entries that no checkpoint covers, up to more than a service can leave unsigned. Beyond that, checkpoints were
 * taken away to rewrite signed entries. Commands on the host may append for years unsigned.
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
