import type { Json } from '../../base/json.ts'
import { parseOperator } from '../../policies/decorators.ts'
import type { Leaf, PolicyData } from '../../policies/set.ts'
import { REQUEST_ROOTS } from '../load/fact-names.ts'
import type { Names } from '../load/names.ts'
import { numberIn } from '../suggest/meant.ts'
import { itemsOf, memberOf, type Node } from '../yaml/node.ts'
import type { Certain } from './certain.ts'
import { writtenLeaves } from './describe.ts'
import { expectedBy, type Use } from './refused.ts'

type Kind = 'number' | 'boolean'

/**
 * Reports texts such as "100" compared with a fact that is compared with numbers elsewhere: a text never equals a
 * number. For declared facts, whose type is known, it is an error.
 */
export function reportTexts(certain: Certain, uses: readonly Use[]): void {
  const { set, names } = certain
  const leaves = writtenLeaves(names)
  const isExpected = expectedBy(certain, uses)
  const kinds = new Map<string, Set<Kind>>()
  const note = (fact: string, kind: Kind): void => void kinds.set(fact, (kinds.get(fact) ?? new Set()).add(kind))
  for (const { leaf } of leaves) for (const kind of kindsOf(leaf)) note(leaf.fact.text, kind)
  for (const { scale } of set.factors) if (scale !== undefined) note(scale.fact.text, 'number')
  for (const { leaf, node } of leaves) {
    const others = kinds.get(leaf.fact.text)
    if (others === undefined || !isUndeclared(leaf, set)) continue
    const isOdd = ({ value }: Node): boolean =>
      (numberIn(value) !== undefined || isFlag(value)) && !isExpected(leaf, value, 'type')
    for (const place of constantsOf(leaf, node).filter(isOdd)) reportText(place, leaf, others, names)
  }
}

function isUndeclared({ fact }: Leaf, { facts }: PolicyData): boolean {
  return REQUEST_ROOTS.has(fact.root) && !facts.has(fact.text)
}

/** Kinds of values that the leaf expects of the fact, or of its items. */
function kindsOf({ operator, wanted }: Leaf): Kind[] {
  if (parseOperator(operator)?.operator.value === 'number') return ['number']
  const values = comparesValues(operator) ? [wanted].flat() : []
  return values.flatMap((value): Kind[] => {
    if (typeof value === 'number') return ['number']
    return typeof value === 'boolean' ? ['boolean'] : []
  })
}

function comparesValues(operator: string): boolean {
  const value = parseOperator(operator)?.operator.value
  return value === 'scalar' || value === 'scalars'
}

function constantsOf({ operator }: Leaf, node: Node): readonly Node[] {
  const value = comparesValues(operator) ? memberOf(node, 'value') : undefined
  if (value === undefined) return []
  return value.items === undefined ? [value] : itemsOf(value)
}

function reportText(place: Node, { fact }: Leaf, others: ReadonlySet<Kind>, names: Names): void {
  const meant = others.has('number') ? numberIn(place.value) : undefined
  const flag = others.has('boolean') && isFlag(place.value) ? place.value === 'true' : undefined
  const value = meant ?? flag
  if (value === undefined) return
  const kind = meant === undefined ? 'a boolean' : 'a number'
  const message = `${JSON.stringify(place.value)} is a text, but elsewhere ${fact.text} is ${kind}; a text never equals one. ${isQuoted(place) ? 'Write it without quotes' : `Write ${kind}`}.`
  names.report.add('GATE2018', place, message, value)
}

function isQuoted({ source, start }: Node): boolean {
  return /["']/.test(source.text[start] ?? '')
}

function isFlag(value: Json): boolean {
  return value === 'true' || value === 'false'
}
