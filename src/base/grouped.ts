/** The last item of each key, in the order in which the keys come first. */
export function distinctBy<K, T>(items: readonly T[], keyOf: (item: T) => K): T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()]
}

/** The items whose key an earlier one has. */
export function repeatsOf<K, T>(items: readonly T[], keyOf: (item: T) => K): T[] {
  const seen = new Set<K>()
  return items.filter((item) => {
    const key = keyOf(item)
    const isRepeat = seen.has(key)
    seen.add(key)
    return isRepeat
  })
}

/** Groups the items by key, in their order. */
export function grouped<K, T>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

/** The value of a key of the map, which is made where there is none. */
export function valueAt<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
