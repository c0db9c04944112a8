import { canonicalJson } from '../base/canonical.ts'
import type { Json } from '../base/json.ts'
import { DECORATORS, type ParsedOperator, parseOperator } from './decorators.ts'
import { BUILT_IN_FACTS, type KnownFact, readFactName, WEEKDAYS } from './fact-names.ts'
import type { Names } from './names.ts'
import { firstKeyOf, itemsOf, lineOf, memberOf, type Node, wordOf } from './node.ts'
import { type CompileResult, compileValue, numberIn, OPERATORS, type ValueFault } from './operators.ts'
import type { Comparison, FactType, Leaf } from './set.ts'
import { closest } from './suggest.ts'

/** Reads `{fact, operator, value}`, reporting every fault in it. */
export function readLeaf(node: Node, names: Names): Leaf | undefined {
  for (const key of ['fact', 'operator']) {
    if (memberOf(node, key) === undefined)
      names.report.add('GATE1102', firstKeyOf(node), `A condition on a fact needs the key ${key}.`)
  }
  const fact = readFactName(memberOf(node, 'fact'), names)
  const operator = readOperator(memberOf(node, 'operator'), names)
  if (operator === undefined) return undefined
  const suits = fact === undefined || checkFactType(node, fact, operator, names)
  const suitsValue = checkValue(node, operator, names)
  if (fact === undefined || !suitsValue || !suits) return undefined
  const typeFits = checkValueType(node, fact, operator, names)
  if (!typeFits) return undefined
  const asked = { operator: wordOf(memberOf(node, 'operator')), wanted: memberOf(node, 'value')?.value ?? true }
  const index = indexOf(fact.path.text, asked, names)
  return { kind: 'leaf', fact: fact.path, ...asked, index, ...lineOf(node) }
}

/** The same for leaves that ask the same of the same fact. */
function indexOf(fact: string, asked: Comparison, names: Names): number {
  const key = `${fact}\0${asked.operator}\0${canonicalJson(asked.wanted)}`
  const known = names.indexes.get(key)
  if (known !== undefined) return known
  names.comparisons.push(asked)
  names.indexes.set(key, names.comparisons.length - 1)
  return names.comparisons.length - 1
}

function readOperator(node: Node | undefined, names: Names): ParsedOperator | undefined {
  if (node === undefined) return undefined
  if (typeof node.value !== 'string') {
    names.report.add('GATE1103', node, 'An operator is named by a text.')
    return undefined
  }
  const parsed = parseOperator(node.value)
  if (parsed === undefined) {
    names.report.add(
      'GATE1206',
      node,
      `There is no operator ${JSON.stringify(node.value)}.`,
      suggestOperator(node.value),
    )
    return undefined
  }
  if (parsed.operator.value === 'none' && parsed.decorators.length > 0) {
    const message = `${parsed.operator.name} takes no decorator; use exists or missing as it is.`
    names.report.add('GATE1206', node, message, parsed.operator.name)
    return undefined
  }
  return parsed
}

function suggestOperator(text: string): string | undefined {
  const parts = text.split(':')
  const last = parts.pop() ?? ''
  const meant = [
    ...parts.map((part) => closest(part, DECORATORS.keys())),
    SYNONYMS.get(last) ?? closest(last, OPERATORS.keys()),
  ]
  return meant.includes(undefined) ? undefined : meant.join(':')
}

/** What authors of other languages write. */
// biome-ignore format: a table
const SYNONYMS: ReadonlyMap<string, string> = new Map(Object.entries({
  '==': 'equal', '===': 'equal', '=': 'equal', eq: 'equal', equals: 'equal', is: 'equal',
  '!=': 'notEqual', '!==': 'notEqual', ne: 'notEqual', neq: 'notEqual', isNot: 'notEqual',
  '<': 'lessThan', lt: 'lessThan', '<=': 'lessThanInclusive', lte: 'lessThanInclusive', le: 'lessThanInclusive',
  '>': 'greaterThan', gt: 'greaterThan', '>=': 'greaterThanInclusive', gte: 'greaterThanInclusive', ge: 'greaterThanInclusive',
  greater: 'greaterThan', less: 'lessThan', greaterOrEqual: 'greaterThanInclusive', lessOrEqual: 'lessThanInclusive', not: 'notEqual',
  regex: 'matches', regexp: 'matches', like: 'matches', oneOf: 'in', notContains: 'doesNotContain', includes: 'contains', cidr: 'inCidr',
}))

/** False when the operator cannot take the value; every fault and doubt is reported. */
function checkValue(node: Node, operator: ParsedOperator, names: Names): boolean {
  const value = memberOf(node, 'value')
  if (value === undefined && operator.operator.value !== 'none') {
    names.report.add('GATE1102', firstKeyOf(node), `${operator.operator.name} needs the key value.`)
    return false
  }
  if (operator.operator.value === 'list' && typeof value?.value === 'string' && !isKnownList(value, value.value, names))
    return false
  const compiled: CompileResult = compileValue(operator.operator, value?.value, names.lists)
  if ('fault' in compiled) {
    reportValue(value ?? node, compiled.fault, names)
    return false
  }
  for (const doubt of compiled.doubts ?? []) reportValue(value ?? node, doubt, names)
  return true
}

function isKnownList(node: Node, name: string, names: Names): boolean {
  names.used.lists.add(name)
  if (names.lists.has(name)) return true
  if (!names.partial)
    names.report.add('GATE1207', node, `There is no list ${JSON.stringify(name)}.`, closest(name, names.lists.keys()))
  return false
}

function reportValue(node: Node, fault: ValueFault, names: Names): void {
  const place = fault.item === undefined ? node : (itemsOf(node)[fault.item] ?? node)
  names.report.add(fault.code, place, fault.message, fault.suggestion)
}

function checkFactType(node: Node, fact: KnownFact, { operator, overItems }: ParsedOperator, names: Names): boolean {
  const place = memberOf(node, 'operator') ?? node
  if (fact.type === undefined) return true
  if (overItems && fact.type !== 'list') {
    names.report.add(
      'GATE1302',
      place,
      `${fact.path.text} is ${aType(fact.type)}, not a list, so its items cannot be asked.`,
    )
    return false
  }
  if (overItems || operator.factTypes.includes(fact.type)) return true
  const hint = fact.type === 'list' ? '; put someFact: or everyFact: before it to ask the items' : ''
  names.report.add(
    'GATE1302',
    place,
    `${operator.name} cannot be asked of ${fact.path.text}, which is ${aType(fact.type)}${hint}.`,
    suitable(fact.type),
  )
  return false
}

function suitable(type: FactType): string | undefined {
  return type === 'date' ? 'before' : type === 'list' ? 'contains' : undefined
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
  if (operator.value !== 'scalar' && operator.value !== 'scalars') return checkOccurrence([value], fact, names)
  const constants = operator.value === 'scalars' ? itemsOf(value) : [value]
  const wrong = constants.filter(
    (item) => typeof item.value !== wanted || (fact.type === 'integer' && !Number.isInteger(item.value)),
  )
  for (const item of wrong) {
    const suggestion = coerced(item.value, wanted)
    names.report.add(
      'GATE1301',
      item,
      `${fact.path.text} is ${aType(fact.type)}; it can never be ${JSON.stringify(item.value)}.`,
      suggestion,
    )
  }
  return wrong.length === 0 && checkOccurrence(constants, fact, names)
}

function checkListType(value: Node, fact: KnownFact, wanted: string, names: Names): boolean {
  const items = names.lists.get(wordOf(value)) ?? []
  if (items.length === 0 || items.some((item) => typeof item === wanted)) return true
  names.report.add('GATE1301', value, `${fact.path.text} is ${aType(fact.type)}, and the list has no such value.`)
  return false
}

/** `"10"` written for `10`. */
function coerced(value: Json, wanted: string): string | undefined {
  if (wanted === 'string' && typeof value !== 'object') return JSON.stringify(String(value))
  if (wanted === 'number') return numberIn(value)
  if (wanted === 'boolean' && (value === 'true' || value === 'false')) return value
  return undefined
}

/** Constants of facts whose values are known: a domain must be declared, the others are doubtful. */
function checkOccurrence(constants: readonly Node[], fact: KnownFact, names: Names): boolean {
  const name = fact.path.text
  if (!BUILT_IN_FACTS.has(name)) return true
  let known = true
  for (const item of constants) {
    if (name === 'domain' && typeof item.value === 'string' && !names.domains.has(item.value) && !names.partial) {
      names.report.add(
        'GATE1209',
        item,
        `There is no domain ${JSON.stringify(item.value)}.`,
        closest(item.value, names.domains.keys()),
      )
      known = false
    }
    if (neverOccurs(name, item.value)) {
      const suggestion = typeof item.value === 'string' ? meantValue(name, item.value) : undefined
      names.report.add('GATE2005', item, `${name} is never ${JSON.stringify(item.value)}.`, suggestion)
    }
  }
  return known
}

const ENVIRONMENTS = ['live', 'test']

/** True for a constant that a fact which is always there never is. */
export function neverOccurs(name: string, value: Json): boolean {
  if (name === 'time.hour') return typeof value === 'number' && (value < 0 || value > 23 || !Number.isInteger(value))
  if (name === 'time.weekday') return !WEEKDAYS.some((day) => day === value)
  return name === 'environment' && !ENVIRONMENTS.some((known) => known === value)
}

function meantValue(name: string, value: string): string | undefined {
  if (name === 'time.weekday') return WEEKDAYS.find((day) => day === value.slice(0, 3).toLowerCase())
  if (name !== 'environment') return undefined
  return /^prod/i.test(value) ? 'live' : (closest(value, ENVIRONMENTS) ?? 'test')
}

function aType(type: FactType | undefined): string {
  return type === 'integer' || type === 'object' ? `an ${type}` : `a ${type}`
}
