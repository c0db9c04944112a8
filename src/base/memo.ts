/** What `make` gives for each key, made at its first use and kept; for keys of which there are only so many. */
export function memo<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, { value: V }>()
  return (key) => {
    const known = made.get(key) ?? { value: make(key) }
    made.set(key, known)
    return known.value
  }
}

/** What `make` gives, made at the first use. */
export function once<V>(make: () => V): () => V {
  const made = memo<undefined, V>(make)
  return () => made(undefined)
}
