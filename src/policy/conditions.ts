import { readLeaf } from './leaf.ts'
import type { Names } from './names.ts'
import { entriesOf, itemsOf, keyOf, memberOf, type Node } from './node.ts'
import type { Condition } from './set.ts'
import { closest } from './suggest.ts'

const LEAF_KEYS = ['fact', 'operator', 'value']
const FORMS = ['all', 'any', 'not', 'condition']
const KEYS = [...LEAF_KEYS, ...FORMS]

/**
 * The condition that a node says. Undefined when a part of it is at fault; every fault is reported,
 * each at its own key or value.
 */
export function readCondition(node: Node, names: Names): Condition | undefined {
  if (node.entries === undefined) {
    names.report.add(
      'GATE1103',
      node,
      'A condition is a mapping: {fact, operator, value}, or one of all, any, not, condition.',
    )
    return undefined
  }
  const unknown = entriesOf(node).filter(({ name }) => !KEYS.includes(name))
  for (const { name, key } of unknown) {
    names.report.add('GATE1101', key, `A condition has no key ${JSON.stringify(name)}.`, closest(name, KEYS))
  }
  const forms = formsOf(node)
  const [form] = forms
  if (form === undefined) {
    if (unknown.length > 0) return undefined
    names.report.add('GATE1113', node, 'A condition needs {fact, operator, value}, or one of all, any, not, condition.')
    return undefined
  }
  if (forms.length > 1) {
    const second = keyOf(node, forms[1] ?? '') ?? node
    names.report.add('GATE1113', second, `A condition has one form; this has ${forms.join(' and ')}.`)
  }
  const read = readForm(form, node, names)
  if (read === undefined || forms.length > 1 || unknown.length > 0) return undefined
  names.nodes.set(read, node)
  return read
}

/** The keys that say which form a condition has, in document order; the keys of a leaf count as one. */
function formsOf(node: Node): string[] {
  const keys = entriesOf(node).map(({ name }) => name)
  const leafKey = keys.find((key) => LEAF_KEYS.includes(key))
  return keys.filter((key) => FORMS.includes(key) || key === leafKey)
}

function readForm(form: string, node: Node, names: Names): Condition | undefined {
  const value = memberOf(node, form)
  if (LEAF_KEYS.includes(form) || value === undefined) return readLeaf(node, names)
  if (form === 'condition') return readReference(value, names)
  if (form === 'not') {
    const condition = readCondition(value, names)
    return condition && { kind: 'not', condition }
  }
  return readList(form === 'all' ? 'all' : 'any', value, names)
}

function readReference(node: Node, names: Names): Condition | undefined {
  if (typeof node.value !== 'string') {
    names.report.add('GATE1103', node, 'A condition is referred to by its name.')
    return undefined
  }
  names.used.conditions.add(node.value)
  if (names.conditions.has(node.value)) return { kind: 'condition', name: node.value }
  if (!names.partial) {
    const suggestion = closest(node.value, names.conditions.keys())
    names.report.add('GATE1208', node, `There is no condition ${JSON.stringify(node.value)}.`, suggestion)
  }
  return undefined
}

function readList(kind: 'all' | 'any', node: Node, names: Names): Condition | undefined {
  if (node.items === undefined) {
    names.report.add('GATE1103', node, `${kind} needs a list of conditions.`)
    return undefined
  }
  if (node.items.length === 0) {
    names.report.add('GATE1105', node, `${kind} needs at least one condition.`)
    return undefined
  }
  const conditions = itemsOf(node).map((item) => readCondition(item, names))
  const readable = conditions.filter((condition) => condition !== undefined)
  return readable.length === conditions.length ? { kind, conditions: readable } : undefined
}
