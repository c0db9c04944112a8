import { grouped } from '../../base/grouped.ts'
import { memo } from '../../base/memo.ts'
import { allTruths, anyTruth, notTruth } from '../../policies/kleene.ts'
import type { Condition, PolicyData, Truth } from '../../policies/set.ts'
import type { Scope } from './known.ts'
import type { Search } from './search.ts'

const EVERY: ReadonlySet<Truth> = new Set<Truth>(['true', 'false', 'unknown'])

/** Possible outcomes of a condition in requests about some actions; all three where they are not known. */
export type TruthsOf = (condition: Condition) => ReadonlySet<Truth>

/**
 * Computes the possible outcomes of conditions. Parts that read different facts are tried apart, so that the work
 * grows only with parts that share facts.
 */
export function outcomesIn(scope: Scope, { conditions }: PolicyData, search: Search): TruthsOf {
  const tried = (parts: readonly Condition[], combined: Condition): ReadonlySet<Truth> => {
    const found = new Set<Truth>()
    const end = search.search([{ condition: combined, holds: () => true }], scope, ([truth]) => {
      if (truth !== undefined) found.add(truth)
      return found.size === EVERY.size
    })
    return end === 'unclear' || parts.length === 0 ? EVERY : found
  }
  const together = (kind: 'all' | 'any', parts: readonly Condition[]): ReadonlySet<Truth> => {
    const groups = groupByFacts(parts, (part) => part, search)
    const each = groups.map((group) => {
      const [only, second] = group
      return only !== undefined && second === undefined ? outcomes(only) : tried(group, { kind, conditions: group })
    })
    const combine = kind === 'all' ? allTruths : anyTruth
    return each.reduce(pairwise(combine), new Set([combine([])]))
  }
  const outcomes: TruthsOf = memo((node: Condition) => {
    if (node.kind === 'leaf') {
      const known = search.knownOf(node.fact, scope)
      return known.because === undefined ? EVERY : tried([node], node)
    }
    if (node.kind === 'not') return new Set([...outcomes(node.condition)].map(notTruth))
    if (node.kind === 'all' || node.kind === 'any') return together(node.kind, node.conditions)
    const target = conditions.get(node.name)
    return target === undefined ? EVERY : outcomes(target)
  })
  return outcomes
}

/** The outcomes of two parts together, when each may have any of its own. */
export function pairwise(combine: (truths: Iterable<Truth>) => Truth) {
  return (a: ReadonlySet<Truth>, b: ReadonlySet<Truth>): ReadonlySet<Truth> =>
    new Set([...a].flatMap((mine) => [...b].map((theirs) => combine([mine, theirs]))))
}

/** Groups items that read a fact in common, directly or through others; order is kept. */
export function groupByFacts<T>(items: readonly T[], conditionOf: (item: T) => Condition, search: Search): T[][] {
  const parent = items.map((_, i) => i)
  const rootOf = (i: number): number => {
    let at = i
    for (let above = parent[at] ?? at; above !== at; above = parent[at] ?? at) {
      // Shortens the path for later lookups.
      parent[at] = parent[above] ?? above
      at = above
    }
    return at
  }
  const firstOf = new Map<string, number>()
  for (const [i, item] of items.entries()) {
    for (const { fact } of search.leavesOf(conditionOf(item))) {
      const first = firstOf.get(fact.text)
      if (first === undefined) firstOf.set(fact.text, i)
      else parent[rootOf(i)] = rootOf(first)
    }
  }
  const placed = items.map((item, i) => ({ item, root: rootOf(i) }))
  const groups = grouped(placed, ({ root }) => root)
  return [...groups.values()].map((group) => group.map(({ item }) => item))
}
