/** A cache of at most `limit` values; the one put longest ago makes room. */
export function boundedCache<V, K = string>(limit: number) {
  const values = new Map<K, V>()
  return {
    get: (key: K): V | undefined => values.get(key),
    put(key: K, value: V): void {
      values.delete(key)
      values.set(key, value)
      const [oldest] = values.keys()
      if (values.size > limit && oldest !== undefined) values.delete(oldest)
    },
  }
}
