import { createReport } from '../diagnostics/report.ts'
import type { PolicySource } from '../load/files.ts'
import { readFiles } from '../load/read-files.ts'
import { itemsOf, memberOf } from '../yaml/node.ts'
import { spliced } from './splices.ts'

/**
 * The policy files with rules in shadow, with `mode: enforce` in place of their `mode: shadow`; all else stays as it is
 * written.
 *
 * @param source of a set without faults
 */
export function withEnforcedRules(source: PolicySource): Map<string, string> {
  const texts = new Map<string, string>()
  for (const { name, root } of readFiles(source, createReport()).policies) {
    const modes = itemsOf(memberOf(root, 'rules')).flatMap((rule) => memberOf(rule, 'mode') ?? [])
    const shadows = modes.filter(({ value }) => value === 'shadow')
    const { text } = root.source
    const splices = shadows.map(({ start, end }) => {
      const quote = /^["']/.exec(text.slice(start, end))?.[0] ?? ''
      return { start, end, text: `${quote}enforce${quote}` }
    })
    if (splices.length > 0) texts.set(name, spliced(text, splices))
  }
  return texts
}
