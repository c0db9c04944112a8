/** Caches the result of `make` for each key, without a limit: only for a bounded number of keys. */
export function memo<K, V>(make: (key: K) => V): (key: K) => V {
  const cache = new Map<K, { value: V }>()
  return (key) => {
    const known = cache.get(key) ?? { value: make(key) }
    cache.set(key, known)
    return known.value
  }
}

/** Caches the result of the first call of `make`. */
export function once<V>(make: () => V): () => V {
  const cached = memo<undefined, V>(make)
  return () => cached(undefined)
}
