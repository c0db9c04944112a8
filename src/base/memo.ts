import { boundedCache } from './bounded-cache.ts'

/** Caches the result of `make` for each key, without a limit: only for a bounded number of keys. */
export function memo<K, V>(make: (key: K) => V): (key: K) => V {
  const cache = new Map<K, { value: V }>()
  return (key) => {
    const known = cache.get(key)
    if (known !== undefined) return known.value
    const value = make(key)
    cache.set(key, { value })
    return value
  }
}

/** Caches results for at most `max` keys; the least recently used one makes room. `has` tells whether one is kept. */
export function lru<K, V>(max: number, make: (key: K) => V) {
  const cache = boundedCache<{ value: V }, K>(max)
  const read = (key: K): V => {
    const entry = cache.get(key) ?? { value: make(key) }
    // Put again, it is the newest.
    cache.put(key, entry)
    return entry.value
  }
  return Object.assign(read, { has: (key: K): boolean => cache.get(key) !== undefined })
}

/** Caches the result of the first call of `make`. */
export function once<V>(make: () => V): () => V {
  const cached = memo<undefined, V>(make)
  return () => cached(undefined)
}
