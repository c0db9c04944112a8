import type { Json } from '../../base/json.ts'
import { isJsonObject } from '../../base/json.ts'
import type { Report } from '../diagnostics/report.ts'
import { closest } from '../suggest/closest.ts'
import { entriesOf, itemsOf, memberOf, type Node, numberOf, textOf, wordOf } from '../yaml/node.ts'
import { TYPES } from './keywords.ts'

/** Pairs of bounds that admit no value, unless the lower is below the upper, or equals it where that is allowed. */
const BOUNDS: readonly [lower: string, upper: string, mayMeet: boolean][] = [
  ['minimum', 'maximum', true],
  ['minimum', 'exclusiveMaximum', false],
  ['exclusiveMinimum', 'maximum', false],
  ['exclusiveMinimum', 'exclusiveMaximum', false],
  ['minLength', 'maxLength', true],
  ['minItems', 'maxItems', true],
  ['minProperties', 'maxProperties', true],
  ['minContains', 'maxContains', true],
]

/** Reports contradictions that no value can pass, in a schema whose keywords are sound; true when there are none. */
export function checkSense(node: Node, report: Report): boolean {
  const checks = [checkBounds(node, report), checkConstants(node, report), checkRequired(node, report)]
  return checks.every(Boolean)
}

function checkBounds(node: Node, report: Report): boolean {
  let sound = true
  for (const [lower, upper, mayMeet] of BOUNDS) {
    const place = memberOf(node, lower)
    const [least, most] = [numberOf(place), numberOf(memberOf(node, upper))]
    if (place === undefined || least === undefined || most === undefined) continue
    if (least < most || (mayMeet && least === most)) continue
    report.add('GATE1407', place, `Nothing can pass: ${lower} is ${least}, and ${upper} is ${most}.`)
    sound = false
  }
  return sound
}

/** Checks that the type admits the constant, or some value of an enum. */
function checkConstants(node: Node, report: Report): boolean {
  const type = memberOf(node, 'type')
  if (type === undefined) return true
  const types = (type.items ?? [type]).map(wordOf)
  if (!types.every((one) => TYPES.includes(one))) return true
  const fits = (value: Json): boolean => types.some((one) => isOfType(value, one))
  let sound = true
  for (const keyword of ['const', 'enum']) {
    const place = memberOf(node, keyword)
    if (
      place === undefined ||
      (keyword === 'enum' ? itemsOf(place).map(({ value }) => value) : [place.value]).some(fits)
    )
      continue
    report.add(
      'GATE1407',
      place,
      `Nothing can pass: the type is ${types.join(' or ')}, and ${keyword} has no such value.`,
    )
    sound = false
  }
  return sound
}

function isOfType(value: Json, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isJsonObject(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

/** Checks that no required member is forbidden. */
function checkRequired(node: Node, report: Report): boolean {
  const isClosed =
    memberOf(node, 'additionalProperties')?.value === false && memberOf(node, 'patternProperties') === undefined
  if (!isClosed) return true
  const allowed = new Set(entriesOf(memberOf(node, 'properties')).map(({ name }) => name))
  const excluded = itemsOf(memberOf(node, 'required')).filter((item) => !allowed.has(textOf(item) ?? ''))
  for (const item of excluded) {
    const message = `Nothing can pass: ${wordOf(item)} is required, and additionalProperties: false allows only what is under properties.`
    report.add('GATE1407', item, message, closest(wordOf(item), allowed))
  }
  return excluded.length === 0
}
