/** Values by key, so many at most: the one that was put the longest time ago makes room. */
export function keptNewest<V>(most: number) {
  const values = new Map<string, V>()
  return {
    get: (key: string): V | undefined => values.get(key),
    put(key: string, value: V): void {
      values.delete(key)
      values.set(key, value)
      const [oldest] = values.keys()
      if (values.size > most && oldest !== undefined) values.delete(oldest)
    },
  }
}
