import { distinctBy } from '../base/grouped.ts'
import type { Condition, Leaf, Truth } from './set.ts'

export function notTruth(truth: Truth): Truth {
  if (truth === 'unknown') return 'unknown'
  return truth === 'true' ? 'false' : 'true'
}

/** The truth of a list in which one item decides, by 'false' of all and by 'true' of any; no item after it is asked. */
function truthOfList<T>(items: Iterable<T>, truthOf: (item: T) => Truth, deciding: 'true' | 'false'): Truth {
  let sum = notTruth(deciding)
  for (const item of items) {
    const truth = truthOf(item)
    if (truth === deciding) return truth
    if (truth === 'unknown') sum = truth
  }
  return sum
}

/** False as soon as one is false, whatever is unknown; true for none. */
export function allTruths(truths: Iterable<Truth>): Truth {
  return truthOfList(truths, (truth) => truth, 'false')
}

/** True as soon as one is true, whatever is unknown; false for none. */
export function anyTruth(truths: Iterable<Truth>): Truth {
  return truthOfList(truths, (truth) => truth, 'true')
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
  const walk = (node: Condition): Truth => {
    if (node.kind === 'leaf') return truthOf(node)
    if (node.kind === 'not') return notTruth(walk(node.condition))
    if (node.kind === 'all') return truthOfList(node.conditions, walk, 'false')
    if (node.kind === 'any') return truthOfList(node.conditions, walk, 'true')
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
