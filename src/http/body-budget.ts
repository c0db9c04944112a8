import { GateError } from '../base/errors.ts'

const MIB = 1024 * 1024
/** Limit of the body bytes of all requests being read or answered, each beyond its first part. */
const MAX_BYTES = 64 * MIB
/** Limit of the body bytes of one key's requests. */
const MAX_BYTES_OF_KEY = 16 * MIB
/** First part of a body, which always has room: large requests of others cannot keep out small ones. */
export const FIRST_PART_BYTES = 64 * 1024

/**
 * Bounds the memory of waiting requests by bytes, not by number: one may be a thousand times as large as another.
 *
 * @returns a maker of shares, one for each request; the first part of an urgent one does not count for its key, so that
 *   a stop always has room
 */
export function bodyBudget() {
  let total = 0
  const byKey = new Map<string, number>()

  return (keyId: string, urgent: boolean) => {
    let taken = 0
    const ofTotal = (bytes: number): number => Math.max(0, bytes - FIRST_PART_BYTES)
    const ofKey = (bytes: number): number => (urgent ? ofTotal(bytes) : bytes)
    const hold = (bytes: number): void => {
      total += ofTotal(bytes) - ofTotal(taken)
      const held = (byKey.get(keyId) ?? 0) + ofKey(bytes) - ofKey(taken)
      if (held === 0) byKey.delete(keyId)
      else byKey.set(keyId, held)
      taken = bytes
    }
    return {
      /** Counts bytes about to be allocated. @throws GateError `overloaded` when they do not fit */
      take(bytes: number): void {
        const before = taken
        hold(taken + bytes)
        if (total <= MAX_BYTES && (byKey.get(keyId) ?? 0) <= MAX_BYTES_OF_KEY) return
        hold(before)
        throw new GateError('overloaded', 'Too many large requests at once; try again.', {
          headers: { Connection: 'close' },
        })
      },
      /** Releases all bytes of this share. */
      release: () => hold(0),
    }
  }
}
