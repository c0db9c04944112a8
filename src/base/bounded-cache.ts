/**
 * A cache of values that weigh at most `limit` together, by default one each; those put longest ago make room. One that
 * weighs more than that alone is kept until the next.
 */
export function boundedCache<V, K = string>(limit: number, weigh: (value: V) => number = () => 1) {
  const values = new Map<K, V>()
  let weight = 0
  const forget = (key: K): void => {
    const value = values.get(key)
    if (value === undefined) return
    weight -= weigh(value)
    values.delete(key)
  }
  return {
    forget,
    get: (key: K): V | undefined => values.get(key),
    put(key: K, value: V): void {
      forget(key)
      values.set(key, value)
      weight += weigh(value)
      for (const oldest of values.keys()) {
        if (weight <= limit || values.size === 1) return
        forget(oldest)
      }
    },
  }
}
