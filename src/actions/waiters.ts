import { GateError } from '../base/errors.ts'
import type { Store } from '../store/store.ts'
import { type Caller, type Deps, isStillActive } from './deps.ts'

/** Limit for one key: each waiter polls several times a second. */
const MAX_WAITERS = 32
const MAX_STREAMS = 32

/** Counts the waiters on a store by key. `take` occupies a place and returns its release. */
function places(limit: number, message: string) {
  const taken = new WeakMap<Store, Map<string, number>>()
  return {
    isFree: (store: Store, keyId: string): boolean => (taken.get(store)?.get(keyId) ?? 0) < limit,
    /** @throws GateError `overloaded` when the key has all its places */
    take(store: Store, keyId: string): () => void {
      const counts = taken.get(store) ?? new Map<string, number>()
      taken.set(store, counts)
      const others = counts.get(keyId) ?? 0
      if (others >= limit) throw new GateError('overloaded', message)
      counts.set(keyId, others + 1)
      return () => {
        const left = (counts.get(keyId) ?? 1) - 1
        if (left === 0) counts.delete(keyId)
        else counts.set(keyId, left)
      }
    },
  }
}

/** Places of readers that wait for an approval. */
export const waiters = places(
  MAX_WAITERS,
  `This key already waits for ${MAX_WAITERS} approvals; repeat the request without wait.`,
)

const streams = places(MAX_STREAMS, `This key already reads ${MAX_STREAMS} event streams; close one of them.`)

/**
 * Event with its data as one line of JSON, the position after it, or both; an item with neither keeps the stream alive.
 */
export interface StreamItem {
  position?: string
  event: { type: string; json: string } | undefined
}

/** Answer that comes piece by piece. */
export interface Stream {
  /** The iteration throws GateError `overloaded` before its first item when the key has too many streams. */
  items: AsyncIterable<StreamItem>
  /** True when nothing more may be sent. */
  isOver(): boolean
  /** True when the last event says so, and a failure is the event `failed`. Clients resume other streams. */
  ends: boolean
}

/** A stream for the caller, over when it has gone or its key has ended; `produce` may end sooner. */
export function streamFor(
  deps: Deps,
  caller: Caller,
  { isGone, ends }: { isGone: () => boolean; ends: boolean },
  produce: (isOver: () => boolean) => AsyncGenerator<StreamItem>,
): Stream {
  const isOver = (): boolean => isGone() || !isStillActive(deps, caller)
  async function* items(): AsyncGenerator<StreamItem> {
    const release = streams.take(deps.store, caller.key.id)
    try {
      yield* produce(isOver)
    } finally {
      release()
    }
  }
  return { items: items(), isOver, ends }
}
