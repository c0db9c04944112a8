import { distinctBy } from '../base/grouped.ts'
import type { Condition, Leaf, Truth } from './set.ts'

export function notTruth(truth: Truth): Truth {
  if (truth === 'unknown') return 'unknown'
  return truth === 'true' ? 'false' : 'true'
}

/** False as soon as one is false, whatever is unknown; true for none. */
export function allTruths(truths: Iterable<Truth>): Truth {
  let sum: Truth = 'true'
  for (const truth of truths) {
    if (truth === 'false') return 'false'
    if (truth === 'unknown') sum = 'unknown'
  }
  return sum
}

/** True as soon as one is true, whatever is unknown; false for none. */
export function anyTruth(truths: Iterable<Truth>): Truth {
  let sum: Truth = 'false'
  for (const truth of truths) {
    if (truth === 'true') return 'true'
    if (truth === 'unknown') sum = 'unknown'
  }
  return sum
}

/**
 * Combines truths of leaves into the truth of a condition. A named condition is evaluated once, however many
 * conditions use it.
 */
export function combiner(
  named: ReadonlyMap<string, Condition>,
  truthOf: (leaf: Leaf) => Truth,
): (condition: Condition) => Truth {
  const known = new Map<string, Truth>()
  // As allTruths and anyTruth, without a list: no loop of a check is hotter.
  const walkList = (conditions: readonly Condition[], neutral: Truth, decisive: Truth): Truth => {
    let sum = neutral
    for (const condition of conditions) {
      const truth = walk(condition)
      if (truth === decisive) return truth
      if (truth === 'unknown') sum = truth
    }
    return sum
  }
  const walk = (node: Condition): Truth => {
    if (node.kind === 'leaf') return truthOf(node)
    if (node.kind === 'not') return notTruth(walk(node.condition))
    if (node.kind === 'all') return walkList(node.conditions, 'true', 'false')
    if (node.kind === 'any') return walkList(node.conditions, 'false', 'true')
    const target = named.get(node.name)
    // Load refuses unknown names; a set built otherwise must not turn into a match or a miss.
    if (target === undefined) return 'unknown'
    const truth = known.get(node.name) ?? walk(target)
    known.set(node.name, truth)
    return truth
  }
  return walk
}

/** The distinct leaves below a condition, in document order; a named condition is entered once. */
export function leavesOf(condition: Condition, named: ReadonlyMap<string, Condition>): Leaf[] {
  const leaves = new Set<Leaf>()
  const entered = new Set<string>()
  const walk = (node: Condition): void => {
    if (node.kind === 'leaf') leaves.add(node)
    else if (node.kind === 'not') walk(node.condition)
    else if (node.kind === 'all' || node.kind === 'any') node.conditions.forEach(walk)
    else if (!entered.has(node.name)) {
      entered.add(node.name)
      const target = named.get(node.name)
      if (target !== undefined) walk(target)
    }
  }
  walk(condition)
  return [...leaves]
}

/** One leaf of each comparison of a fact. */
export function distinctLeaves(leaves: readonly Leaf[]): Leaf[] {
  return distinctBy(leaves, ({ index }) => index)
}
