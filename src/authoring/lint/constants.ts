import { grouped } from '../../base/grouped.ts'
import type { Json } from '../../base/json.ts'
import { parseOperator } from '../../policies/decorators.ts'
import { leavesOf } from '../../policies/kleene.ts'
import { parseFactPath } from '../../policies/path.ts'
import type { Leaf, PolicyData } from '../../policies/set.ts'
import { BUILT_IN_FACTS } from '../load/fact-names.ts'
import type { Names } from '../load/names.ts'
import { closest } from '../suggest/closest.ts'
import { entriesOf, itemsOf, memberOf, type Node, type Place, placeAt } from '../yaml/node.ts'
import type { Certain } from './certain.ts'
import { listText, writtenLeaves } from './describe.ts'
import { listLinesOf } from './list-lines.ts'
import { type Refusal, refusalOf, type Use } from './refused.ts'

/** Most values of a list that are held to schemas. */
const MAX_VALUES = 1000

/**
 * Reports constants and values of lists that no request has, and constants that name a fact. Returns the comparisons of
 * which all constants were reported: what follows from them is not a further fault.
 */
export function reportConstants(certain: Certain, all: readonly Use[]): ReadonlySet<Leaf> {
  const { set, names } = certain
  const uses = grouped(all, ({ leaf }) => leaf)
  const reported = new Set<Leaf>()
  const written = writtenLeaves(names)
  for (const { leaf, node } of written) {
    if (reportFactNames(leaf, node, names)) reported.add(leaf)
    if (reported.has(leaf)) continue
    const constants = comparesWholes(leaf) ? constantsOf(node) : []
    const refused = constants.flatMap((place) => {
      const refusal = refusalOf(place.value, uses.get(leaf) ?? [], certain)
      return refusal === undefined ? [] : [{ place, refusal }]
    })
    if (constants.length > 0 && refused.length === constants.length) reported.add(leaf)
    for (const { place, refusal } of refused) reportRefused(place, place.value, leaf, refusal, names)
  }
  const ofLists = grouped(written.map(({ leaf }) => leaf).filter(readsList), ({ wanted }) => String(wanted))
  for (const [name, leaves] of ofLists) {
    const ofList = leaves.flatMap((leaf) => uses.get(leaf) ?? [])
    const places = placesOf(name, certain)
    for (const [i, value] of (set.lists.get(name) ?? []).slice(0, MAX_VALUES).entries()) {
      const refusal = refusalOf(value, ofList, certain)
      const [place, leaf] = [places[i], leaves[0]]
      if (refusal && place && leaf) reportRefused(place, value, leaf, refusal, names)
    }
  }
  return reported
}

/** The comparisons of rules and factors, each with every rule or factor that it belongs to. */
export function usesIn(set: PolicyData): Use[] {
  return [...set.rules, ...set.factors].flatMap((about) =>
    about.condition === undefined ? [] : leavesOf(about.condition, set.conditions).map((leaf) => ({ leaf, about })),
  )
}

function comparesWholes({ operator }: Leaf): boolean {
  const value = parseOperator(operator)?.operator.value
  return value === 'scalar' || value === 'scalars'
}

function readsList({ operator }: Leaf): boolean {
  return parseOperator(operator)?.operator.value === 'list'
}

function constantsOf(node: Node): readonly Node[] {
  const value = memberOf(node, 'value')
  if (value === undefined) return []
  return value.items ?? [value]
}

/** Places of the values of a list, in their order. */
function placesOf(name: string, { roots, names }: Certain): readonly Place[] {
  const source = names.listSources.get(name)
  if (source !== undefined)
    return listLinesOf(source).map(({ value, start }) => placeAt(source, start, start + value.length))
  const declared = roots.flatMap((root) => entriesOf(memberOf(root, 'lists'))).find((entry) => entry.name === name)
  return itemsOf(memberOf(declared?.value, 'values'))
}

function reportRefused(place: Place, value: Json, { fact }: Leaf, { actions, values }: Refusal, names: Names): void {
  const text = JSON.stringify(value)
  const schemas = actions.length === 1 ? 'the schema' : 'the schemas'
  const message = `${fact.text} is never ${text}: ${schemas} of ${listText(actions)} let${actions.length === 1 ? 's' : ''} no such value through.`
  const known = values.flatMap((one) => (typeof one === 'string' ? [one] : []))
  names.report.add('GATE2005', place, message, typeof value === 'string' ? closest(value, known) : undefined)
}

/** Signs that other languages put around the name of a variable. */
const AROUND = /^[\s{$(@]+|[\s})]+$/g

/** Reports constants that are the name of a fact. True when there is one. */
function reportFactNames({ operator }: Leaf, node: Node, names: Names): boolean {
  const kind = parseOperator(operator)?.operator.value
  if (kind === 'pattern' || kind === 'list' || kind === 'cidr') return false
  const named = constantsOf(node).flatMap((place) => {
    const fact = typeof place.value === 'string' ? factNamedBy(place.value, names) : undefined
    return fact === undefined ? [] : [{ place, fact }]
  })
  for (const { place, fact } of named) {
    const message = `${fact} is a fact, but constants are not read as facts: only the text itself equals it. Compare the two where the request is made, and send the result as a fact.`
    names.report.add('GATE2028', place, message)
  }
  return named.length > 0
}

function factNamedBy(text: string, { facts, declaredFacts, overTime }: Names): string | undefined {
  const path = text.length > 200 ? undefined : parseFactPath(text.replaceAll(AROUND, ''))
  if (path === undefined || path.segments.length === 0) return undefined
  const isKnown = BUILT_IN_FACTS.has(path.text) || declaredFacts.has(path.text) || overTime.has(path.text)
  const isOfRequest = path.root === 'context' || (path.root === 'plan' && facts === undefined)
  return isKnown || isOfRequest ? path.text : undefined
}
