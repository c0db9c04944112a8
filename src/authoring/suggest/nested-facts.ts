import type { Report } from '../diagnostics/report.ts'
import { type Entry, entriesOf, memberOf, type Node } from '../yaml/node.ts'
import { withEntries, withMembers } from '../yaml/repeated-keys.ts'

const ROOTS = ['context', 'plan']
const DECLARATION_KEYS = ['type', 'unit', 'description', 'default']

/**
 * The document with nested declarations of facts, as in `facts: {context: {amount: {type: number}}}`, flattened to
 * paths. They are one fault, at the root, and users of such facts have none.
 */
export function withFlatFacts(root: Node, report: Report): Node {
  const facts = memberOf(root, 'facts')
  const section = root.entries?.get('facts')
  if (facts === undefined || section === undefined) return root
  const flat = entriesOf(facts).flatMap((entry) => {
    if (!ROOTS.includes(entry.name) || !holdsFacts(entry.value)) return [entry]
    const found = flattened(entry)
    const paths = found
      .slice(0, 3)
      .map(({ name }) => name)
      .join(', ')
    const more = found.length > 3 ? ' and so on' : ''
    report.add(
      'GATE1205',
      entry.key,
      `Facts are declared by their whole paths, not one below the other: ${paths}${more}.`,
    )
    return found
  })
  if (flat.length === entriesOf(facts).length && flat.every((entry) => facts.entries?.get(entry.name) === entry))
    return root
  // The flat declaration wins where a fact is declared both ways.
  const value = withEntries(
    facts,
    flat.map((entry) => facts.entries?.get(entry.name) ?? entry),
  )
  return withMembers(root, (entry) => (entry === section ? { ...section, value } : entry))
}

function flattened({ name, value }: Entry): Entry[] {
  return entriesOf(value).flatMap((entry) => {
    const plain = /^(?:[A-Za-z0-9_-]+|\*)$/.test(entry.name)
    const path = { ...entry, name: `${name}${plain ? `.${entry.name}` : `[${JSON.stringify(entry.name)}]`}` }
    return holdsFacts(entry.value) ? flattened(path) : [path]
  })
}

/** True for a mapping with none of the keys of a declaration, and with mappings below. */
function holdsFacts(node: Node): boolean {
  const entries = entriesOf(node)
  const isDeclaration = entries.some(
    ({ name, value }) => DECLARATION_KEYS.includes(name) && value.entries === undefined,
  )
  return entries.length > 0 && !isDeclaration && entries.some(({ value }) => value.entries !== undefined)
}
