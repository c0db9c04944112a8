import { repeatsOf } from '../../base/grouped.ts'
import type { Report } from '../diagnostics/report.ts'
import type { ReadFiles } from '../load/read-files.ts'
import { closest } from '../suggest/closest.ts'
import { entriesOf, itemsOf, memberOf, type Node, type Place, textOf } from '../yaml/node.ts'

/** Names that expectations may refer to. Undefined where a file could not be read, since any may stand in it. */
export type KnownNames = Readonly<Record<'rules' | 'factors' | 'either' | 'groups', ReadonlySet<string> | undefined>>

/** Names, or a map by name. */
type Names = Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>

/** Collects the names of rules and factors, faulty ones included: references to them are not at fault. */
export function knownNames({ policies, partial }: ReadFiles): KnownNames {
  if (partial) return { rules: undefined, factors: undefined, either: undefined, groups: undefined }
  const namesIn = (section: string, key: string): string[] =>
    policies.flatMap(({ root }) =>
      itemsOf(memberOf(root, section)).flatMap((node) => textOf(memberOf(node, key)) ?? []),
    )
  const rules = namesIn('rules', 'id')
  const factors = namesIn('risk', 'name')
  const groups = policies
    .flatMap(({ root }) => [root, ...itemsOf(memberOf(root, 'rules'))])
    .flatMap((node) => itemsOf(memberOf(memberOf(node, 'approval'), 'approvers')))
    .flatMap((node) => textOf(node) ?? [])
  return {
    rules: new Set(rules),
    factors: new Set(factors),
    either: new Set([...rules, ...factors]),
    groups: new Set(groups),
  }
}

/**
 * Reads the texts of a list as names. Unknown ones are reported, and returned beside those that they probably mean:
 * uses of either are not at fault too.
 *
 * @param where the place of the known names, as in `under rules`
 */
export function readNames(
  nodes: readonly Node[],
  known: Names | undefined,
  where: string,
  report: Report,
): readonly string[] {
  return nodes.flatMap((node) => {
    const name = textOf(node)
    if (name === undefined) return []
    const meant = reportUnknown(name, node, known, where, report)
    return meant === undefined ? [name] : [name, meant]
  })
}

/** @returns the name that an unknown one probably means */
export function reportUnknown(
  name: string,
  place: Place,
  known: Names | undefined,
  where: string,
  report: Report,
  meant?: string,
): string | undefined {
  if (known === undefined || known.has(name)) return undefined
  const suggestion = meant ?? report.search(known.keys(), (names) => closest(name, names))
  report.add('GATE1504', place, `There is no ${JSON.stringify(name)} ${where}.`, suggestion)
  return suggestion
}

/** False when a key is not in `shape`: its intended content is unknown, and its users are not at fault too. */
export function hasKnownKeys(node: Node | undefined, shape: { properties: object }): boolean {
  return entriesOf(node).every(({ name }) => Object.hasOwn(shape.properties, name))
}

/** Reports repetitions in a list: a matrix would evaluate them twice, and elsewhere they mean nothing. */
export function reportTwice(nodes: readonly Node[], report: Report, code: 'GATE1510' | 'GATE2017' = 'GATE1510'): void {
  const texts = nodes.filter((node) => textOf(node) !== undefined)
  for (const node of repeatsOf(texts, textOf))
    report.add(code, node, `${JSON.stringify(node.value)} stands in this list already.`)
}
