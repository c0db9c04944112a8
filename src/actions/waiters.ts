import { GateError } from '../base/errors.ts'
import type { Store } from '../store.ts'

/** Waiting readers of one key at a time: each looks several times a second. */
const MAX_WAITERS = 32

/** Readers that wait on a store, by key. */
const waiting = new WeakMap<Store, Map<string, number>>()

/** Counts the reader while `wait` runs. @throws GateError `overloaded` when the key has too many */
export async function asWaiter<T>(store: Store, keyId: string, wait: () => Promise<T>): Promise<T> {
  const counts = waiting.get(store) ?? new Map<string, number>()
  waiting.set(store, counts)
  const others = counts.get(keyId) ?? 0
  if (others >= MAX_WAITERS) {
    throw new GateError('overloaded', `This key waits for ${MAX_WAITERS} approvals already; ask again without wait.`)
  }
  counts.set(keyId, others + 1)
  try {
    return await wait()
  } finally {
    const left = (counts.get(keyId) ?? 1) - 1
    if (left === 0) counts.delete(keyId)
    else counts.set(keyId, left)
  }
}
