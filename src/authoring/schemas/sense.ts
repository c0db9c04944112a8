import { isJsonObject, type Json } from '../../base/json.ts'
import type { Report } from '../diagnostics/report.ts'
import { entriesOf, itemsOf, keyOf, memberOf, type Node, numberOf, wordOf } from '../yaml/node.ts'
import { TYPES } from './keywords.ts'
import { meantMember } from './presence.ts'

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

/** Reports contradictions that no value can pass, and required members that are probably misspelt. */
export function checkSense(node: Node, report: Report): void {
  checkBounds(node, report)
  checkConstants(node, report)
  checkRequired(node, report)
  checkGroups(node, report)
  checkMembers(node, report)
}

/** Keywords that limit values of some types alone, by those types. */
const GROUPS: readonly [types: readonly string[], keywords: readonly string[]][] = [
  [
    ['number', 'integer'],
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ],
  [['string'], ['minLength', 'maxLength', 'pattern', 'format']],
  [['array'], ['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems', 'unevaluatedItems']],
  [
    ['object'],
    ['properties', 'required', 'additionalProperties', 'patternProperties', 'minProperties', 'maxProperties'],
  ],
]

/** Reports keywords that no type beside them can obey. */
function checkGroups(node: Node, report: Report): void {
  const type = memberOf(node, 'type')
  if (type === undefined) return
  const types = (type.items ?? [type]).map(wordOf)
  if (!types.every((one) => TYPES.includes(one))) return
  for (const [limited, keywords] of GROUPS) {
    if (types.some((one) => limited.includes(one))) continue
    for (const keyword of keywords) {
      const key = keyOf(node, keyword)
      // A flag in place of the names is a fault of its own.
      if (key === undefined || (keyword === 'required' && memberOf(node, keyword)?.items === undefined)) continue
      const message = `${keyword} limits values of type ${limited[0]}, and the type here is ${types.join(' or ')}.`
      report.add('GATE2042', key, message)
    }
  }
}

/** Reports keywords about all members that stand among the members. */
function checkMembers(node: Node, report: Report): void {
  for (const { name, key, value } of entriesOf(memberOf(node, 'properties'))) {
    if (typeof value.value !== 'boolean' || !/^(?:additional|unevaluated)Properties$/.test(name)) continue
    const message = `${name} under properties describes a member of that name. Put it beside properties.`
    report.add('GATE2042', key, message)
  }
}

/** Keywords by which other schemas may say of what type a value is. */
const COMPOSING = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if']
const TYPING = ['type', 'enum', 'const', ...COMPOSING]
/** An object shows by its members what it is. */
const OF_VALUES = GROUPS.filter(([types]) => !types.includes('object'))

/** Reports limits of members of no type, which texts pass that look like numbers, and the like. */
export function checkUntyped(node: Node, report: Report): void {
  if (COMPOSING.some((keyword) => memberOf(node, keyword) !== undefined)) return
  for (const { value } of entriesOf(memberOf(node, 'properties'))) {
    checkUntyped(value, report)
    if (TYPING.some((keyword) => memberOf(value, keyword) !== undefined)) continue
    const [first] = OF_VALUES.flatMap(([[type], keywords]) =>
      keywords.map((keyword) => ({ type, keyword, key: keyOf(value, keyword) })).filter(({ key }) => key !== undefined),
    )
    if (first?.key === undefined) continue
    const message = `Without a type, ${first.keyword} limits values of type ${first.type} alone, and every other value passes. Write type: ${first.type} beside it.`
    report.add('GATE2042', first.key, message)
  }
}

function checkBounds(node: Node, report: Report): void {
  for (const [lower, upper, mayMeet] of BOUNDS) {
    const place = memberOf(node, lower)
    const [least, most] = [numberOf(place), numberOf(memberOf(node, upper))]
    if (place === undefined || least === undefined || most === undefined) continue
    if (least < most || (mayMeet && least === most)) continue
    report.add('GATE1407', place, `Nothing can pass: ${lower} is ${least}, and ${upper} is ${most}.`)
  }
}

/** Checks that the type admits the constant, or some value of an enum. */
function checkConstants(node: Node, report: Report): void {
  const type = memberOf(node, 'type')
  if (type === undefined) return
  const types = (type.items ?? [type]).map(wordOf)
  if (!types.every((one) => TYPES.includes(one))) return
  const fits = ({ value }: Node): boolean => types.some((one) => isOfType(value, one))
  for (const keyword of ['const', 'enum']) {
    const place = memberOf(node, keyword)
    if (place === undefined || (keyword === 'enum' ? itemsOf(place) : [place]).some(fits)) continue
    const message = `Nothing can pass: the type is ${types.join(' or ')}, and ${keyword} has no such value.`
    report.add('GATE1407', place, message)
  }
}

function isOfType(value: Json, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isJsonObject(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

/** Checks that no required member is forbidden, or named otherwise under properties. */
function checkRequired(node: Node, report: Report): void {
  const isClosed =
    memberOf(node, 'additionalProperties')?.value === false && memberOf(node, 'patternProperties') === undefined
  const described = entriesOf(memberOf(node, 'properties')).map(({ name }) => name)
  const required = itemsOf(memberOf(node, 'required'))
  for (const item of required) {
    const name = wordOf(item)
    if (described.includes(name)) continue
    const meant = meantMember(name, described)
    if (isClosed) {
      const message = `Nothing can pass: ${name} is required, and additionalProperties: false allows only what is under properties.`
      report.add('GATE1407', item, message, meant)
    } else if (meant !== undefined && !required.some(({ value }) => value === meant)) {
      const message = `${name} is required, but properties describe ${meant}, which may be missing.`
      report.add('GATE2033', item, message, meant)
    }
  }
}
