import type { Condition } from '../../policies/set.ts'
import { chainLengths, cycleThrough, findCycles, type References } from '../schemas/cycles.ts'
import { itemsOf, memberOf, type Node, textOf } from '../yaml/node.ts'
import { readCondition } from './conditions.ts'
import { LIMITS } from './limits.ts'
import type { Names } from './names.ts'

const MAX_SHOWN = 8

/** Named conditions; cycles among them are reported at each member, chains that are too long at their head. */
export function readNamedConditions(names: Names): Map<string, Condition> {
  const conditions = new Map<string, Condition>()
  for (const [name, node] of names.conditions) {
    // A reference from another condition makes one used only if that one is used.
    const condition = readCondition(node, names)
    if (condition !== undefined) conditions.set(name, condition)
  }
  for (const node of names.repeatedConditions) readCondition(node, names)
  // Conditions with other faults are included: those do not hide a cycle.
  const references = new Map([...names.conditions].map(([name, node]) => [name, referencesOf(node, names)]))
  if (!reportCycles(references, names)) reportChains(references, names)
  return conditions
}

function referencesOf(condition: Node, { conditions }: Names): Set<string> {
  const found = new Set<string>()
  const walk = (node: Node): void => {
    const name = textOf(memberOf(node, 'condition'))
    if (name !== undefined && conditions.has(name)) found.add(name)
    const negated = memberOf(node, 'not')
    if (negated !== undefined) walk(negated)
    for (const form of ['all', 'any']) for (const item of itemsOf(memberOf(node, form))) walk(item)
  }
  walk(condition)
  return found
}

function reportCycles(references: References, names: Names): boolean {
  const groups = findCycles(references)
  for (const group of groups) {
    for (const name of group) {
      const place = names.conditionKeys.get(name)
      // The cycle is searched for only where it is short enough to read.
      const way =
        group.length > MAX_SHOWN ? [name, `${group.length - 1} others`, name] : cycleThrough(name, group, references)
      if (place !== undefined)
        names.report.add(
          'GATE1210',
          place,
          `The condition refers to itself: ${way.join(' → ')}; one of them must not refer to the next.`,
        )
    }
  }
  return groups.length > 0
}

function reportChains(references: References, names: Names): void {
  for (const [name, length] of chainLengths(references)) {
    const place = names.conditionKeys.get(name)
    if (length !== LIMITS.depth + 2 || place === undefined) continue
    names.report.add('GATE1215', place, `The condition leads through more than ${LIMITS.depth} others.`)
  }
}
