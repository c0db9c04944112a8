import { GateError } from '../base/errors.ts'

const MIB = 1024 * 1024
/** What all requests that are being read or answered have allocated for their bodies, each beyond its first part. */
const MAX_BYTES = 64 * MIB
/** All that those of one key have allocated. */
const MAX_BYTES_OF_KEY = 16 * MIB
/** The first part of a body, for which there is always a place: nobody's large requests keep out small ones. */
export const FIRST_PART_BYTES = 64 * 1024

/** What one request has of the budget. */
export interface BodyShare {
  /** Counts bytes that are about to be allocated. @throws GateError `overloaded` when they do not fit */
  take(bytes: number): void
  /** Gives back all that was taken. */
  release(): void
}

/**
 * Bounds what waits in memory, for the store or for the rest of itself, by bytes and not by requests: a request may be a
 * thousand times as large as another.
 *
 * @returns a maker of shares; an urgent one has its first part beyond what its key holds, so that a stop always has a place
 */
export function bodyBudget(): (keyId: string, urgent: boolean) => BodyShare {
  let total = 0
  const byKey = new Map<string, number>()

  return (keyId, urgent) => {
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
      take(bytes) {
        const before = taken
        hold(taken + bytes)
        if (total <= MAX_BYTES && (byKey.get(keyId) ?? 0) <= MAX_BYTES_OF_KEY) return
        hold(before)
        throw new GateError('overloaded', 'Too many large requests at once; try again.', {
          headers: { Connection: 'close' },
        })
      },
      release: () => hold(0),
    }
  }
}
