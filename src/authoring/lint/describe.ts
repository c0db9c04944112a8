import type { Condition, Leaf } from '../../policies/set.ts'
import type { Names } from '../load/names.ts'
import { keyOf, memberOf, type Node, type Place, placeAt, positionOf } from '../yaml/node.ts'

const MAX_SHOWN = 40

/** `context.amount greaterThan 100`. @param max characters shown of the constant */
export function leafText({ fact, operator, wanted }: Leaf, max = MAX_SHOWN): string {
  if (operator === 'exists' || operator === 'missing') return `${fact.text} ${operator}`
  const value = JSON.stringify(wanted)
  return `${fact.text} ${operator} ${value.length > max ? `${value.slice(0, max)}…` : value}`
}

/** The comparisons of all conditions, each with the node that it was read from. */
export function writtenLeaves({ nodes }: Names): { leaf: Leaf; node: Node }[] {
  return [...nodes].flatMap(([part, node]) => ('kind' in part && part.kind === 'leaf' ? [{ leaf: part, node }] : []))
}

/** A condition as a part of a sentence. */
export function conditionText(condition: Condition, names: Names): string {
  if (condition.kind === 'leaf') return leafText(condition)
  if (condition.kind === 'condition') return `condition ${condition.name}`
  if (condition.kind === 'not' && condition.condition.kind !== 'not')
    return `not (${conditionText(condition.condition, names)})`
  const place = placeOf(condition, names)
  return `the ${condition.kind} of line ${positionOf(place.source, place.start).line}`
}

/** The place at which a condition is reported: its fact, or the key of its form. */
export function placeOf(condition: Condition, names: Names): Place {
  const node = names.nodes.get(condition)
  const place = condition.kind === 'leaf' ? memberOf(node, 'fact') : keyOf(node, condition.kind)
  return place ?? node ?? placeAt({ file: '', text: '', lineStarts: [0] }, 0)
}

/** `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`. */
export function listText(names: readonly string[], word = 'and'): string {
  const shown = names.length > 4 ? [...names.slice(0, 3), `${names.length - 3} more`] : names
  const last = shown.at(-1) ?? ''
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} ${word} ${last}`
}
