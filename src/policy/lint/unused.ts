import type { Names } from '../names.ts'
import { entriesOf, memberOf, type Node } from '../node.ts'

/** Reports the lists and conditions of a file that nothing refers to, and whose names are not `mentioned`. */
export function reportUnused(root: Node, names: Names, mentioned: ReadonlySet<string>): void {
  report(root, 'lists', new Set([...names.used.lists, ...mentioned]), 'GATE2002', names)
  report(root, 'conditions', new Set([...names.used.conditions, ...mentioned]), 'GATE2003', names)
}

function report(
  root: Node,
  section: 'lists' | 'conditions',
  used: ReadonlySet<string>,
  code: 'GATE2002' | 'GATE2003',
  names: Names,
): void {
  for (const { name, key } of entriesOf(memberOf(root, section))) {
    if (!used.has(name)) names.report.add(code, key, `Nothing uses ${JSON.stringify(name)}.`)
  }
}
