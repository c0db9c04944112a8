import { isActionName } from '../../base/glob.ts'
import { repeatsOf } from '../../base/grouped.ts'
import { ANY, parseFactPath } from '../../policies/path.ts'
import type { Report } from '../diagnostics/report.ts'
import { isSlip } from '../lint/spelling.ts'
import { REQUEST_ROOTS } from '../load/fact-names.ts'
import { factsAskedIn } from '../load/facts.ts'
import type { ReadFiles } from '../load/read-files.ts'
import { actionNodes } from '../schemas/actions.ts'
import { closest } from '../suggest/closest.ts'
import { entriesOf, itemsOf, memberOf, type Node, numberOf, type Place, textOf } from '../yaml/node.ts'

/** Names that expectations may refer to. Undefined where a file could not be read, since any may stand in it. */
export type KnownNames = Readonly<
  Record<'rules' | 'factors' | 'either' | 'groups', ReadonlySet<string> | undefined>
> & {
  /** Names that tests may also make up: a near one is probably meant. */
  readonly near: NearNames | undefined
  readonly weights: ReadonlyMap<string, number>
}

interface NearNames {
  /** Actions that are declared, or that rules and factors name. */
  readonly actions: ReadonlySet<string>
  /** Members that schemas describe and facts name, by the path above them. */
  readonly members: ReadonlyMap<string, ReadonlySet<string>>
}

/** Names, or a map by name. */
type Names = Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>

/** Collects the names of rules and factors, faulty ones included: references to them are not at fault. */
export function knownNames({ policies, partial }: ReadFiles): KnownNames {
  if (partial)
    return {
      rules: undefined,
      factors: undefined,
      either: undefined,
      groups: undefined,
      near: undefined,
      weights: new Map(),
    }
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
    near: { actions: new Set(policies.flatMap(({ root }) => actionsIn(root))), members: membersIn(policies) },
    weights: new Map(
      policies
        .flatMap(({ root }) => itemsOf(memberOf(root, 'risk')))
        .map((node) => [textOf(memberOf(node, 'name')) ?? '', numberOf(memberOf(node, 'weight')) ?? 0]),
    ),
  }
}

function actionsIn(root: Node): string[] {
  const parts = ['rules', 'risk'].flatMap((section) => itemsOf(memberOf(root, section)))
  const named = parts.flatMap((part) => itemsOf(memberOf(part, 'actions'))).flatMap((node) => textOf(node) ?? [])
  return [...actionNodes(root).map(({ name }) => name), ...named.filter((text) => !text.includes('*'))]
}

function membersIn(policies: ReadFiles['policies']): Map<string, Set<string>> {
  const members = new Map<string, Set<string>>()
  const add = (above: string, name: string): void =>
    void members.set(above, (members.get(above) ?? new Set<string>()).add(name))
  const walk = (schema: Node | undefined, above: string): void => {
    for (const { name, value } of entriesOf(memberOf(schema, 'properties'))) {
      add(above, name)
      walk(value, `${above}.${name}`)
    }
  }
  for (const { root } of policies) {
    for (const { node } of actionNodes(root)) for (const part of REQUEST_ROOTS) walk(memberOf(node, part), part)
    const facts = [...entriesOf(memberOf(root, 'facts')).map(({ name }) => name), ...factsAskedIn(root.value)]
    for (const path of facts.flatMap((text) => parseFactPath(text) ?? [])) {
      for (const [i, name] of path.segments.entries())
        if (name !== ANY) add([path.root, ...path.segments.slice(0, i)].join('.'), name)
    }
  }
  return members
}

/** Reports actions that no policy names, one slip away from one that a policy does. */
export function reportSlips(nodes: readonly Node[], { near }: KnownNames, report: Report): void {
  for (const node of nodes) {
    const action = textOf(node)
    if (near === undefined || action === undefined || !isActionName(action) || near.actions.has(action)) continue
    const meant = report.search(near.actions, (known) => closest(action, known))
    if (meant === undefined || !isSlip(action, meant)) continue
    const message = `No policy names the action ${action}, but ${meant}. A test of another action passes for other reasons.`
    report.add('GATE2052', node, message, meant)
  }
}

/** Reports members of a fixture that no policy knows, one slip away from one that the fixture lacks. */
export function reportMemberSlips(fixture: Node | undefined, above: string, known: KnownNames, report: Report): void {
  const names = known.near?.members.get(above)
  for (const { name, key, value } of names === undefined ? [] : entriesOf(fixture)) {
    reportMemberSlips(value, `${above}.${name}`, known, report)
    if (names?.has(name) !== false) continue
    const lacking = [...names].filter((one) => memberOf(fixture, one) === undefined)
    const meant = report.search(lacking, (others) => closest(name, others))
    if (meant === undefined || !isSlip(name, meant)) continue
    const message = `No policy knows ${above}.${name}, and ${meant} is missing here. A test with it passes for other reasons.`
    report.add('GATE2052', key, message, meant)
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
