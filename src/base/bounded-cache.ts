/** A cache of at most `limit` values; the one put longest ago makes room. */
export function boundedCache<V>(limit: number) {
  const values = new Map<string, V>()
  return {
    get: (key: string): V | undefined => values.get(key),
    put(key: string, value: V): void {
      values.delete(key)
      values.set(key, value)
      const [oldest] = values.keys()
      if (values.size > limit && oldest !== undefined) values.delete(oldest)
    },
  }
}
