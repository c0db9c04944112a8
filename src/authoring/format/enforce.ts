import { createReport } from '../diagnostics/report.ts'
import type { PolicySource } from '../load/files.ts'
import { readFiles } from '../load/read-files.ts'
import { itemsOf, memberOf } from '../yaml/node.ts'

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
    if (shadows.length > 0) texts.set(name, replaced(root.source.text, shadows))
  }
  return texts
}

function replaced(text: string, places: readonly { start: number; end: number }[]): string {
  let from = 0
  let result = ''
  for (const { start, end } of places.toSorted((a, b) => a.start - b.start)) {
    const quote = /^["']/.exec(text.slice(start, end))?.[0] ?? ''
    result += `${text.slice(from, start)}${quote}enforce${quote}`
    from = end
  }
  return result + text.slice(from)
}
