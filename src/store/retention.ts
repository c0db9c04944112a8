/** Time after which a value of idempotency may be used afresh. */
export const IDEMPOTENCY_MS = 10 * 60_000

/** Number of sets that are kept of a tenant, the newest ones. */
const RETAINED_SETS = 100
/** Limit of their bytes together; the newest set is kept whatever its size, which the loader bounds. */
const RETAINED_BYTES = 64 * 1024 * 1024

export interface RetainedSet {
  digest: string
  bytes: number
}

/** Sets beyond a limit, from a list with the newest first; never the first. */
export function beyondLimits(sets: readonly RetainedSet[]): readonly RetainedSet[] {
  let bytes = 0
  const end = sets.findIndex((set, i) => {
    bytes += set.bytes
    return i > 0 && (i >= RETAINED_SETS || bytes > RETAINED_BYTES)
  })
  return end < 0 ? [] : sets.slice(end)
}
