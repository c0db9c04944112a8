import type { Names } from '../names.ts'
import { entriesOf, memberOf, type Node } from '../node.ts'

/** Reports the lists and conditions of a file that nothing refers to. */
export function reportUnused(root: Node, names: Names): void {
  report(root, 'lists', names.used.lists, 'GATE2002', names)
  report(root, 'conditions', names.used.conditions, 'GATE2003', names)
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
