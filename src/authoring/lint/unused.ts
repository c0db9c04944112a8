import { SESSION_ACTIONS } from '../../policies/path.ts'
import type { Names } from '../load/names.ts'
import { overTimeFacts } from '../load/over-time.ts'
import { entriesOf, memberOf, type Node } from '../yaml/node.ts'

/** Reports lists, conditions and facts over time of a file that nothing refers to and that are not `mentioned`. */
export function reportUnused(root: Node, names: Names, mentioned: ReadonlySet<string>): void {
  report(root, 'lists', new Set([...names.used.lists, ...mentioned]), 'GATE2002', names)
  report(root, 'conditions', new Set([...names.used.conditions, ...mentioned]), 'GATE2003', names)
  // The fact that every session brings need not be used, and a malformed name is a fault of its own.
  const facts = overTimeFacts(root).filter(({ text }) => text !== SESSION_ACTIONS && !text.includes('['))
  for (const { text, key } of facts) {
    if (!names.used.overTime.has(text) && !mentioned.has(text))
      names.report.add('GATE2025', key, `No rule or factor asks for ${text}.`)
  }
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
