import type { Report } from '../diagnostics/report.ts'
import { memberOf, type Node, textOf } from '../yaml/node.ts'

/** What agents are told; one that shows nothing is as good as none. */
export function readReason(node: Node, report: Report): string | undefined {
  const reason = memberOf(node, 'reason')
  const text = textOf(reason)
  // That it has no character at all is reported by the shape.
  if (reason !== undefined && text !== '' && text?.trim() === '')
    report.add('GATE1105', reason, 'The reason must not be empty; it has only spaces.')
  return text
}
