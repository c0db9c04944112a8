import type { Report } from '../diagnostics/report.ts'
import { LIMITS } from '../load/limits.ts'
import { entriesOf, itemsOf, keyOf, memberOf, type Node } from '../yaml/node.ts'
import { chainLengths, findCycles } from './cycles.ts'

interface Part {
  node: Node
  /** Nodes of the part itself. */
  size: number
  /** Names under `$defs` that it refers to, repeated for each reference. */
  references: readonly string[]
}

/**
 * Reports definitions that refer to themselves, and schemas that grow beyond measure once their
 * references are followed. Needs a schema that checkSchema has passed.
 */
export function checkReferences(root: Node, report: Report): boolean {
  const definitions = memberOf(root, '$defs')
  const parts = new Map(entriesOf(definitions).map(({ name, value }) => [name, partOf(value)]))
  const references = new Map([...parts].map(([name, part]) => [name, new Set(part.references)]))
  const cycles = findCycles(references)
  for (const name of cycles.flat()) {
    report.add(
      'GATE1404',
      keyOf(definitions, name) ?? root,
      `The definition ${name} refers to itself; write out as many levels as there may be.`,
    )
  }
  if (cycles.length > 0) return false
  const sizes = new Map<string, number>()
  // Shortest chains first, so that the size of each reference is known when it is needed.
  for (const [name] of [...chainLengths(references)].sort((a, b) => a[1] - b[1])) {
    const part = parts.get(name)
    if (part !== undefined) sizes.set(name, sizeOf(part, sizes))
  }
  if (sizeOf(partOf(root), sizes) <= LIMITS.schemaNodes) return true
  report.add('GATE1404', root, `The schema has more than ${LIMITS.schemaNodes} parts once its references are followed.`)
  return false
}

function sizeOf(part: Part, sizes: ReadonlyMap<string, number>): number {
  return part.references.reduce((sum, name) => sum + (sizes.get(name) ?? 0), part.size)
}

function partOf(node: Node): Part {
  const references: string[] = []
  let size = 0
  const walk = (at: Node, isRoot: boolean): void => {
    size += 1
    const reference = memberOf(at, '$ref')?.value
    if (typeof reference === 'string') references.push(reference.slice('#/$defs/'.length))
    for (const { name, value } of entriesOf(at)) if (!(isRoot && name === '$defs')) walk(value, false)
    for (const item of itemsOf(at)) walk(item, false)
  }
  walk(node, true)
  return { node, size, references }
}
