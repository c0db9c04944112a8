/** References by name. */
export type References = ReadonlyMap<string, ReadonlySet<string>>

/**
 * The groups of names that refer to each other in a circle, each in the order of `references`
 * (Tarjan's strongly connected components). Walks with a stack of its own, since a chain of names
 * may be longer than the call stack is deep.
 */
export function findCycles(references: References): string[][] {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const open: string[] = []
  const isOpen = new Set<string>()
  const groups: string[][] = []
  for (const start of references.keys()) {
    if (order.has(start)) continue
    const path = [enter(start)]
    for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
      const next = frame.rest.next()
      if (next.done !== true) {
        if (!order.has(next.value)) path.push(enter(next.value))
        else if (isOpen.has(next.value)) lower(frame.name, order.get(next.value))
        continue
      }
      path.pop()
      const parent = path.at(-1)
      if (parent !== undefined) lower(parent.name, low.get(frame.name))
      if (low.get(frame.name) === order.get(frame.name)) close(frame.name)
    }
  }
  return groups

  function enter(name: string) {
    order.set(name, order.size)
    low.set(name, order.size - 1)
    open.push(name)
    isOpen.add(name)
    return { name, rest: (references.get(name) ?? new Set<string>()).values() }
  }
  function lower(name: string, to: number | undefined): void {
    low.set(name, Math.min(low.get(name) ?? 0, to ?? 0))
  }
  function close(name: string): void {
    const group = open.splice(open.indexOf(name))
    for (const member of group) isOpen.delete(member)
    if (group.length > 1 || references.get(name)?.has(name) === true) groups.push(group)
  }
}

/** The shortest way from a name back to itself, both ends included; inside `group`, which must hold one. */
export function cycleThrough(name: string, group: readonly string[], references: References): string[] {
  const members = new Set(group)
  const cameFrom = new Map<string, string>()
  const queue = [name]
  for (const at of queue) {
    for (const next of references.get(at) ?? []) {
      if (next === name) return backTo(name, at, cameFrom)
      if (!members.has(next) || cameFrom.has(next)) continue
      cameFrom.set(next, at)
      queue.push(next)
    }
  }
  return [name, name]
}

function backTo(name: string, last: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way = [name]
  for (let at: string | undefined = last; at !== undefined && at !== name; at = cameFrom.get(at)) way.unshift(at)
  return [name, ...way]
}

/** The longest chain of references from each name, 1 for a name that refers to none. Needs references without cycles. */
export function chainLengths(references: References): Map<string, number> {
  const lengths = new Map<string, number>()
  for (const start of references.keys()) {
    const path = [start]
    for (let name = path.at(-1); name !== undefined; name = path.at(-1)) {
      const targets = [...(references.get(name) ?? [])].filter((target) => references.has(target))
      const unknown = targets.filter((target) => !lengths.has(target))
      if (unknown.length > 0 && !lengths.has(name)) {
        path.push(...unknown)
        continue
      }
      path.pop()
      lengths.set(name, 1 + Math.max(0, ...targets.map((target) => lengths.get(target) ?? 0)))
    }
  }
  return lengths
}
