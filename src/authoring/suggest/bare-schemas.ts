import type { Report } from '../diagnostics/report.ts'
import { type Entry, entriesOf, firstKeyOf, memberOf, type Node } from '../yaml/node.ts'
import { withEntries, withValues } from '../yaml/repeated-keys.ts'

/** Keywords that only a schema has, not an action. */
const KEYWORDS = ['type', 'properties', 'required']

/** The document with schemas directly under an action read as those of its context. Each is one fault. */
export function withSchemasUnderContext(root: Node, report: Report): Node {
  return withValues(root, (section) => {
    if (section.name !== 'actions') return section.value
    return withValues(section.value, ({ name, value }) => {
      const keywords = entriesOf(value).filter((entry) => entry.name !== 'description')
      const isSchema = keywords.some((entry) => KEYWORDS.includes(entry.name))
      if (!isSchema || memberOf(value, 'context') !== undefined || memberOf(value, 'plan') !== undefined) return value
      const message = `The schema of ${name.slice(0, 100)} stands directly under the action. Put it under context, or under plan.`
      report.add('GATE1101', keywords[0]?.key ?? value, message)
      const context: Entry = { name: 'context', key: firstKeyOf(value), value: withEntries(value, keywords) }
      return withEntries(value, [context])
    })
  })
}
