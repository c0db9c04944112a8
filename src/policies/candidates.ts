import { type Glob, globMatches } from '../base/glob.ts'
import { grouped } from '../base/grouped.ts'

/**
 * An index from actions to the positions of those items whose patterns match, in ascending order.
 * Exact patterns are looked up; of the others only those are matched whose first segment is the
 * action's own or has a `*`.
 */
export function indexCandidates(
  items: readonly { readonly actions: readonly Glob[] }[],
): (action: string) => readonly number[] {
  const placed = items.flatMap(({ actions }, position) => actions.map((glob) => ({ glob, position })))
  const exact = grouped(
    placed.filter(({ glob }) => glob.exact),
    ({ glob }) => glob.text,
  )
  const byStart = grouped(
    placed.filter(({ glob }) => !glob.exact),
    ({ glob }) => startOf(glob),
  )
  return (action) => {
    const found = new Set(exact.get(action)?.map(({ position }) => position))
    for (const start of [action.split('.', 1)[0] ?? '', ANYWHERE]) {
      for (const { glob, position } of byStart.get(start) ?? []) {
        if (!found.has(position) && globMatches(glob, action)) found.add(position)
      }
    }
    return [...found].sort((a, b) => a - b)
  }
}

/** Stands for first segments with a `*`, which no action has. */
export const ANYWHERE = '*'

/** The first segment of a pattern, which actions must share unless it has a `*`. */
export function startOf({ segments: [first = ''] }: Glob): string {
  return first.includes('*') ? ANYWHERE : first
}
