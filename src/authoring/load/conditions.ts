import type { Condition } from '../../policies/set.ts'
import { choices, closest } from '../suggest/closest.ts'
import { comparisonIn, withJoinedPath, withOperator } from '../suggest/foreign-conditions.ts'
import { withKnownKeys } from '../suggest/key-repair.ts'
import { CONDITION_WORDS } from '../suggest/synonyms.ts'
import type { Suggestion } from '../suggest/written.ts'
import { entriesOf, itemsOf, keyOf, memberOf, type Node, textOf } from '../yaml/node.ts'
import { readLeaf } from './leaves.ts'
import type { Names } from './names.ts'

const LEAF_KEYS = ['fact', 'operator', 'value']
const FORMS = ['all', 'any', 'not', 'condition']
/** All keys that a condition can have. */
export const CONDITION_KEYS: readonly string[] = [...LEAF_KEYS, ...FORMS]

/** Reads the condition of a node. Undefined when a part of it is at fault; every fault is reported, at its own key or value. */
export function readCondition(written: Node, names: Names): Condition | undefined {
  if (written.entries === undefined) {
    const message = 'A condition is a mapping: {fact, operator, value}, or one of all, any, not, condition.'
    const hint = written.items === undefined ? '' : ' Several conditions stand in a list under all or any.'
    names.report.add('GATE1103', written, message + hint, meantCondition(written, names))
    // A list without a key does not hide the faults of its items.
    for (const item of itemsOf(written)) if (item.entries !== undefined) readCondition(item, names)
    return undefined
  }
  const isUnknown = entriesOf(written).some(({ name }) => !CONDITION_KEYS.includes(name))
  const node = isUnknown ? withMeantKeys(written, names) : written
  const forms = formsOf(node)
  const [form] = forms
  if (form === undefined) {
    if (isUnknown) return undefined
    return names.report.add(
      'GATE1113',
      node,
      'A condition needs {fact, operator, value}, or one of all, any, not, condition.',
    )
  }
  if (forms.length > 1) {
    const second = keyOf(node, forms[1] ?? '') ?? node
    names.report.add('GATE1113', second, `A condition has one form; this has ${forms.join(' and ')}.`)
  }
  const [read] = forms.map((one) => readForm(one, node, names))
  if (read === undefined || forms.length > 1 || isUnknown) return undefined
  names.nodes.set(read, node)
  return read
}

/** Reads keys of other languages as ours where possible, so that the faults below them are found too. */
function withMeantKeys(written: Node, names: Names): Node {
  const node = withOperator(withJoinedPath(written, names), names)
  const fits = (name: string, { value, items, entries }: Node): boolean => {
    if (name === 'all' || name === 'any') return items !== undefined
    if (name === 'not') return entries !== undefined
    return name === 'value' || typeof value === 'string'
  }
  return withKnownKeys(node, CONDITION_KEYS, [CONDITION_WORDS], names.report, { fits })
}

/** The condition meant by its name alone, by an expression, or by a list, which means all of its items. */
function meantCondition(node: Node, names: Names): Suggestion | undefined {
  const name = textOf(node)
  if (name !== undefined && names.conditions.has(name)) {
    names.used.conditions.add(name)
    return { condition: name }
  }
  const compared = name === undefined ? undefined : comparisonIn(name, names)
  if (compared !== undefined) return compared
  const items = itemsOf(node)
  return items.length > 0 && items.every(({ entries }) => entries !== undefined) ? { all: node.value } : undefined
}

/** Keys that determine the form of a condition, in document order; the keys of a leaf count as one. */
function formsOf(node: Node): string[] {
  const keys = entriesOf(node).map(({ name }) => name)
  const leafKey = keys.find((key) => LEAF_KEYS.includes(key))
  return keys.filter((key) => FORMS.includes(key) || key === leafKey)
}

function readForm(form: string, node: Node, names: Names): Condition | undefined {
  const value = memberOf(node, form)
  if (LEAF_KEYS.includes(form) || value === undefined) return readLeaf(node, names)
  if (form === 'condition') return readReference(value, names)
  if (form === 'not') return readNegation(value, names)
  return readList(form === 'all' ? 'all' : 'any', value, names)
}

function readNegation(node: Node, names: Names): Condition | undefined {
  if (node.items !== undefined) {
    const [only] = node.items.length === 1 ? node.items : []
    const message = 'not takes one condition; put several in a list under any or all below it.'
    names.report.add('GATE1103', node, message, only === undefined ? { any: node.value } : only.value)
    for (const item of node.items) if (item.entries !== undefined) readCondition(item, names)
    return undefined
  }
  const condition = readCondition(node, names)
  return condition && { kind: 'not', condition }
}

function readReference(node: Node, names: Names): Condition | undefined {
  if (typeof node.value !== 'string')
    return names.report.add(
      'GATE1103',
      node,
      'A condition is referred to by its name, which is declared under conditions.',
    )
  names.used.conditions.add(node.value)
  if (names.conditions.has(node.value)) return { kind: 'condition', name: node.value }
  if (!names.unsure) {
    const { value } = node
    const suggestion = names.report.search(names.conditions.keys(), (known) => closest(value, known))
    // The condition that was meant counts as used.
    if (suggestion !== undefined) names.used.conditions.add(suggestion)
    names.report.add(
      'GATE1208',
      node,
      `There is no condition ${JSON.stringify(node.value)}; ${choices(names.conditions.keys())}.`,
      suggestion,
    )
  }
  return undefined
}

function readList(kind: 'all' | 'any', node: Node, names: Names): Condition | undefined {
  if (node.items === undefined) {
    const isCondition = node.entries !== undefined
    names.report.add('GATE1103', node, `${kind} needs a list of conditions.`, isCondition ? [node.value] : undefined)
    if (isCondition) readCondition(node, names)
    return undefined
  }
  if (node.items.length === 0) return names.report.add('GATE1105', node, `${kind} needs at least one condition.`)
  const conditions = itemsOf(node).map((item) => readCondition(item, names))
  const readable = conditions.filter((condition) => condition !== undefined)
  return readable.length === conditions.length ? { kind, conditions: readable } : undefined
}
