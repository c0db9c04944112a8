import { type Glob, globMatches } from '../base/glob.ts'
import type { FindCandidates } from './set.ts'

/**
 * An index from actions to the positions of those items whose patterns match, in ascending order.
 * Exact patterns are looked up; of the others only those are matched whose first segment is the
 * action's own or has a `*`.
 */
export function indexCandidates(items: readonly { readonly actions: readonly Glob[] }[]): FindCandidates {
  const exact = new Map<string, number[]>()
  const bySegment = new Map<string, [Glob, number][]>()
  const anywhere: [Glob, number][] = []
  for (const [position, { actions }] of items.entries()) {
    for (const glob of actions) {
      const first = glob.segments[0] ?? ''
      if (glob.exact) push(exact, glob.text, position)
      else if (first.includes('*')) anywhere.push([glob, position])
      else push(bySegment, first, [glob, position])
    }
  }
  return (action) => {
    const found = new Set(exact.get(action))
    const first = action.split('.', 1)[0] ?? ''
    for (const [glob, position] of bySegment.get(first) ?? []) {
      if (!found.has(position) && globMatches(glob, action)) found.add(position)
    }
    for (const [glob, position] of anywhere) {
      if (!found.has(position) && globMatches(glob, action)) found.add(position)
    }
    return [...found].sort((a, b) => a - b)
  }
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, [value])
  else values.push(value)
}
