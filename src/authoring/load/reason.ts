import type { Report } from '../diagnostics/report.ts'
import { memberOf, type Node, textOf } from '../yaml/node.ts'

/** Reads the reason that agents receive; one of spaces alone is as good as none. */
export function readReason(node: Node, report: Report): string | undefined {
  const reason = memberOf(node, 'reason')
  const text = textOf(reason)
  // The shape reports an empty reason.
  if (reason !== undefined && text !== '' && text?.trim() === '')
    report.add('GATE1105', reason, 'The reason must not be empty; it has only spaces.')
  return text
}
