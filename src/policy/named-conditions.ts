import { readCondition } from './conditions.ts'
import { chainLengths, cycleThrough, findCycles, type References } from './cycles.ts'
import { LIMITS } from './limits.ts'
import type { Names } from './names.ts'
import type { Condition } from './set.ts'

const MAX_SHOWN = 8

/** The named conditions; cycles among them are reported at each member, chains that are too long at their head. */
export function readNamedConditions(names: Names): Map<string, Condition> {
  const conditions = new Map<string, Condition>()
  for (const [name, node] of names.conditions) {
    // Being referred to from another condition does not make one used, unless that one is.
    const condition = readCondition(node, names)
    if (condition !== undefined) conditions.set(name, condition)
  }
  const references = new Map([...conditions].map(([name, condition]) => [name, referencesOf(condition)]))
  if (!reportCycles(references, names)) reportChains(references, names)
  return conditions
}

function referencesOf(condition: Condition): Set<string> {
  const found = new Set<string>()
  const walk = (node: Condition): void => {
    if (node.kind === 'condition') found.add(node.name)
    else if (node.kind === 'not') walk(node.condition)
    else if (node.kind !== 'leaf') node.conditions.forEach(walk)
  }
  walk(condition)
  return found
}

function reportCycles(references: References, names: Names): boolean {
  const groups = findCycles(references)
  for (const group of groups) {
    for (const name of group) {
      const node = names.conditions.get(name)
      // The way round is searched for only where a reader could take it in.
      const way =
        group.length > MAX_SHOWN ? [name, `${group.length - 1} others`, name] : cycleThrough(name, group, references)
      if (node !== undefined) names.report.add('GATE1210', node, `The condition refers to itself: ${way.join(' → ')}.`)
    }
  }
  return groups.length > 0
}

function reportChains(references: References, names: Names): void {
  for (const [name, length] of chainLengths(references)) {
    const node = names.conditions.get(name)
    if (length !== LIMITS.depth + 2 || node === undefined) continue
    names.report.add('GATE1215', node, `The condition leads through more than ${LIMITS.depth} others.`)
  }
}
