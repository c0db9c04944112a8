import { canonicalJson } from '../../base/canonical.ts'
import { ENVIRONMENTS } from '../../base/environment.ts'
import { isActionName } from '../../base/glob.ts'
import type { Json } from '../../base/json.ts'
import { type ParsedOperator, parseOperator } from '../../policies/decorators.ts'
import type { Operator } from '../../policies/operators.ts'
import type { Comparison, FactType, Leaf } from '../../policies/set.ts'
import { DIAGNOSTICS } from '../diagnostics/codes.ts'
import type { ValueFault } from '../diagnostics/diagnostics.ts'
import { choices, closest } from '../suggest/closest.ts'
import { coerced } from '../suggest/meant.ts'
import { occurring } from '../suggest/occurring.ts'
import { operatorHint, operatorsFor, suggestOperator, suitable } from '../suggest/operator-suggest.ts'
import { firstKeyOf, itemsOf, lineOf, memberOf, type Node, wordOf } from '../yaml/node.ts'
import { constantFaults } from './constants.ts'
import { BUILT_IN_FACTS, type KnownFact, readFactName, WEEKDAYS } from './fact-names.ts'
import type { Names } from './names.ts'

/** Reads `{fact, operator, value}`, reporting every fault in it. */
export function readLeaf(node: Node, names: Names): Leaf | undefined {
  for (const key of ['fact', 'operator']) {
    if (memberOf(node, key) === undefined)
      names.report.add('GATE1102', firstKeyOf(node), `A condition on a fact needs the key ${key}.`)
  }
  const fact = readFactName(memberOf(node, 'fact'), names)
  const operator = readOperator(memberOf(node, 'operator'), names)
  if (operator === undefined) return undefined
  // The operator determines which values fit, and is not certain where it does not suit the fact.
  if (fact !== undefined && !checkFactType(node, fact, operator, names)) return undefined
  if (!checkValue(node, operator, names)) return undefined
  if (fact === undefined || !checkValueType(node, fact, operator, names)) return undefined
  const comparison = { operator: wordOf(memberOf(node, 'operator')), wanted: memberOf(node, 'value')?.value ?? true }
  const index = indexOf(fact.path.text, comparison, names)
  return { kind: 'leaf', fact: fact.path, ...comparison, index, ...lineOf(node) }
}

/** Leaf.index, shared by equal comparisons of the same fact. */
function indexOf(fact: string, comparison: Comparison, names: Names): number {
  const key = `${fact}\0${comparison.operator}\0${canonicalJson(comparison.wanted)}`
  const known = names.indexes.get(key)
  if (known !== undefined) return known
  names.comparisons.push(comparison)
  names.indexes.set(key, names.comparisons.length - 1)
  return names.comparisons.length - 1
}

function readOperator(node: Node | undefined, names: Names): ParsedOperator | undefined {
  if (node === undefined) return undefined
  if (typeof node.value !== 'string') return names.report.add('GATE1103', node, 'An operator is named by a text.')
  const parsed = parseOperator(node.value)
  // YAML reads `operator: >` as the beginning of a text that follows.
  const written = node.value.trim() === '' ? node.source.text.slice(node.start, node.end).trim() : node.value
  if (parsed === undefined) {
    return names.report.add(
      'GATE1206',
      node,
      `There is no operator ${JSON.stringify(written.slice(0, 100))}.${operatorHint(written)}`,
      suggestOperator(written),
    )
  }
  if (parsed.operator.value === 'none' && parsed.decorators.length > 0) {
    const { name } = parsed.operator
    const isOpposite = parsed.decorators.filter((decorator) => decorator === 'not').length % 2 === 1
    const meant = isOpposite ? (name === 'exists' ? 'missing' : 'exists') : name
    return names.report.add('GATE1206', node, `${name} takes no decorator; use exists or missing as it is.`, meant)
  }
  return parsed
}

/** False when the operator cannot take the value; every fault and doubt is reported. */
function checkValue(node: Node, operator: ParsedOperator, names: Names): boolean {
  const value = memberOf(node, 'value')
  if (value === undefined && operator.operator.value !== 'none') {
    names.report.add('GATE1102', firstKeyOf(node), `${operator.operator.name} needs the key value.`)
    return false
  }
  if (operator.operator.value === 'list' && typeof value?.value === 'string' && !isKnownList(value, value.value, names))
    return false
  const faults = constantFaults(operator.operator, value?.value, names.lists)
  for (const fault of faults) reportValue(value ?? node, fault, names)
  return faults.every(({ code }) => DIAGNOSTICS[code].severity === 'warning')
}

function isKnownList(node: Node, name: string, names: Names): boolean {
  names.used.lists.add(name)
  if (names.lists.has(name)) return true
  if (names.unsure) return false
  const suggestion = names.report.search(names.lists.keys(), (known) => closest(name, known))
  // The list that was meant counts as used.
  if (suggestion !== undefined) names.used.lists.add(suggestion)
  names.report.add(
    'GATE1207',
    node,
    `There is no list ${JSON.stringify(name)}; ${choices(names.lists.keys())}.`,
    suggestion,
  )
  return false
}

function reportValue(node: Node, fault: ValueFault, names: Names): void {
  const place = fault.item === undefined ? node : (itemsOf(node)[fault.item] ?? node)
  names.report.add(fault.code, place, fault.message, fault.suggestion)
}

function suitsFact({ type }: KnownFact, { operator, overItems }: ParsedOperator): boolean {
  return type === undefined || (overItems ? type === 'list' : operator.factTypes.includes(type))
}

function checkFactType(node: Node, fact: KnownFact, parsed: ParsedOperator, names: Names): boolean {
  const place = memberOf(node, 'operator') ?? node
  const { operator, overItems } = parsed
  if (fact.type === undefined || suitsFact(fact, parsed)) return true
  if (overItems) {
    names.report.add(
      'GATE1302',
      place,
      `${fact.path.text} is ${aType(fact.type)}, not a list, so its items cannot be asked.`,
    )
    return false
  }
  const hint = fact.type === 'list' ? ', with someFact: or everyFact: to ask its items' : ''
  names.report.add(
    'GATE1302',
    place,
    `${operator.name} cannot be asked of ${fact.path.text}, which is ${aType(fact.type)}; ask with ${operatorsFor(fact.type)}${hint}.`,
    suitable(fact.type, parsed),
  )
  return false
}

const JSON_TYPE: Partial<Record<FactType, string>> = {
  number: 'number',
  integer: 'number',
  string: 'string',
  boolean: 'boolean',
}

/** Checks constants, and the values of a named list, against the type of the fact. */
function checkValueType(node: Node, fact: KnownFact, { operator, overItems }: ParsedOperator, names: Names): boolean {
  const value = memberOf(node, 'value')
  const wanted = fact.type === undefined || overItems ? undefined : JSON_TYPE[fact.type]
  if (value === undefined || wanted === undefined) return true
  if (operator.value === 'list') return checkListType(value, fact, wanted, names)
  if (!comparesValues(operator)) return true
  if (operator.value === 'number') return checkOccurrence([value], fact, operator, names)
  const constants = operator.value === 'scalars' ? itemsOf(value) : [value]
  const wrong = constants.filter(
    (item) => typeof item.value !== wanted || (fact.type === 'integer' && !Number.isInteger(item.value)),
  )
  for (const item of wrong) {
    const suggestion = occurring(fact.path.text, item.value) ?? coerced(item.value, wanted)
    names.report.add(
      'GATE1301',
      item,
      `${fact.path.text} is ${aType(fact.type)}; it can never be ${JSON.stringify(item.value)}.`,
      suggestion,
    )
  }
  const right = constants.filter((item) => !wrong.includes(item))
  return checkOccurrence(right, fact, operator, names) && wrong.length === 0
}

function checkListType(value: Node, fact: KnownFact, wanted: string, names: Names): boolean {
  const items = names.lists.get(wordOf(value)) ?? []
  if (items.length === 0 || items.some((item) => typeof item === wanted)) return true
  names.report.add('GATE1301', value, `${fact.path.text} is ${aType(fact.type)}, and the list has no such value.`)
  return false
}

/** True when the constant is a whole value that the fact may have, not a part of one. */
function comparesValues({ value }: Operator): boolean {
  return value === 'scalar' || value === 'scalars' || value === 'number'
}

/** Checks constants of facts whose values are known: a domain must be declared, the others are doubtful. */
function checkOccurrence(constants: readonly Node[], fact: KnownFact, operator: Operator, names: Names): boolean {
  const name = fact.path.text
  if (!BUILT_IN_FACTS.has(name)) return true
  let known = true
  for (const item of constants) {
    const { value } = item
    if (name === 'domain' && typeof value === 'string' && !names.domains.has(value) && !names.unsure) {
      names.report.add(
        'GATE1209',
        item,
        `There is no domain ${JSON.stringify(value)}; ${choices(names.domains.keys())}.`,
        names.report.search(names.domains.keys(), (known) => closest(value, known)),
      )
      known = false
    }
    if (neverOccurs(name, operator, value)) {
      names.report.add(
        'GATE2005',
        item,
        `${name} is never ${JSON.stringify(value)}${hintOf(name, item)}.`,
        occurring(name, value),
      )
    }
  }
  return known
}

/** The reason, as the end of a sentence, where it is not plain from the value. */
function hintOf(name: string, item: Node): string {
  if (name === 'action' && wordOf(item).includes('*')) return '; patterns stand under actions'
  const isFraction = name === 'time.hour' && typeof item.value === 'number' && !Number.isInteger(item.value)
  return isFraction ? '; it has whole hours' : ''
}

/** True for a leaf that compares a built-in fact with a value that it never has. */
export function asksNever({ fact, operator, wanted }: Leaf): boolean {
  const parsed = parseOperator(operator)
  return (
    parsed !== undefined &&
    comparesValues(parsed.operator) &&
    [wanted].flat().some((one) => neverOccurs(fact.text, parsed.operator, one))
  )
}

function neverOccurs(name: string, operator: Operator, value: Json): boolean {
  if (name === 'action') return typeof value === 'string' && !isActionName(value)
  // Every hour is less than 24, the end of the day.
  if (name === 'time.hour')
    return typeof value === 'number' && !(operator.name === 'lessThan' && value === 24) && !isHour(value)
  if (name === 'time.weekday') return !WEEKDAYS.some((day) => day === value)
  return name === 'environment' && !ENVIRONMENTS.some((known) => known === value)
}

function isHour(value: number): boolean {
  return value >= 0 && value <= 23 && Number.isInteger(value)
}

export function aType(type: FactType | undefined): string {
  return type === 'integer' || type === 'object' ? `an ${type}` : `a ${type}`
}
