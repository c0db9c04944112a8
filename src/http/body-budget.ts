import { GateError } from '../base/errors.ts'

const MIB = 1024 * 1024
/** Bodies of all requests that are being read or answered. What they are parsed into takes several times as much. */
const MAX_BYTES = 64 * MIB
/** Those of one key, so that no caller can take the place of all. */
const MAX_BYTES_OF_KEY = 16 * MIB

/** What one request has of the budget. */
export interface BodyShare {
  /** @throws GateError `overloaded` when the bytes do not fit */
  take(bytes: number): void
  /** Gives back all that was taken. */
  release(): void
}

/**
 * Bounds what waits in memory, for the store or for the rest of itself, by bytes and not by requests: a request may be a
 * thousand times as large as another.
 *
 * @returns a maker of shares; `urgent` ones are refused only for what their own key holds, so that a stop always has a place
 */
export function bodyBudget(): (keyId: string, urgent: boolean) => BodyShare {
  let total = 0
  const byKey = new Map<string, number>()

  const add = (keyId: string, bytes: number): void => {
    total += bytes
    const held = (byKey.get(keyId) ?? 0) + bytes
    if (held === 0) byKey.delete(keyId)
    else byKey.set(keyId, held)
  }

  return (keyId, urgent) => {
    let taken = 0
    return {
      take(bytes) {
        const fits = urgent || total + bytes <= MAX_BYTES
        if (!fits || (byKey.get(keyId) ?? 0) + bytes > MAX_BYTES_OF_KEY) {
          throw new GateError('overloaded', 'Too many large requests at once; try again.', {
            headers: { Connection: 'close' },
          })
        }
        add(keyId, bytes)
        taken += bytes
      },
      release() {
        add(keyId, -taken)
        taken = 0
      },
    }
  }
}
