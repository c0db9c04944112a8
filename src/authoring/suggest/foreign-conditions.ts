import type { Json } from '../../base/json.ts'
import { OPERATORS } from '../../policies/operators.ts'
import { parseFactPath } from '../../policies/path.ts'
import { meantFact, REQUEST_ROOTS } from '../load/fact-names.ts'
import type { Names } from '../load/names.ts'
import { entriesOf, memberOf, type Node, textOf } from '../yaml/node.ts'
import { withEntries } from '../yaml/repeated-keys.ts'
import { folded } from './closest.ts'
import { suggestOperator } from './operator-suggest.ts'
import { OPERATOR_WORDS } from './synonyms.ts'
import { Verbatim } from './written.ts'

// Conditions as other languages write them.

/** Reads `{fact: context.amount, greaterThan: 5}`, in which the operator is the key of its value. */
export function withOperator(node: Node, names: Names): Node {
  const entries = entriesOf(node)
  const isFact = entries.some(({ name }) => name === 'fact') && !entries.some(({ name }) => name === 'operator')
  const entry = entries.find(({ name }) => isOperator(name))
  if (!isFact || entry === undefined || memberOf(node, 'value') !== undefined) return node
  const { name, key, value } = entry
  const operator = suggestOperator(name) ?? name
  const message = `There is no key ${JSON.stringify(name.slice(0, 100))} here; write operator: ${operator}, and its value under value.`
  const isYamlFlow = node.source.text[node.start] === '{' && !node.source.file.endsWith('.json')
  names.report.add('GATE1101', key, message, isYamlFlow ? new Verbatim(`operator: ${operator}, value`) : undefined)
  const others = entries.filter((other) => other !== entry)
  return withEntries(node, [
    ...others,
    { name: 'operator', key, value: { ...key, value: operator } },
    { name: 'value', key, value },
  ])
}

function isOperator(name: string): boolean {
  // The key `not` makes a condition of its own form.
  return name !== 'not' && (OPERATORS.has(name) || OPERATOR_WORDS.has(folded(name)))
}

/** Reads json-rules-engine's `{fact: context, path: $.amount}`, which is `{fact: context.amount}` here. */
export function withJoinedPath(node: Node, names: Names): Node {
  const { fact, path } = Object.fromEntries(node.entries ?? [])
  const [root, below] = [textOf(fact?.value), textOf(path?.value)]
  if (fact === undefined || path === undefined || root === undefined || below === undefined) return node
  const joined = `${root}.${below.replace(/^\$?\.?/, '')}`
  const isContext = REQUEST_ROOTS.has(root)
  const meant = isContext ? joined : `context.${joined}`
  names.report.add('GATE1101', path.key, `There is no key path here; the fact is written in one, as in fact: ${meant}.`)
  const others = entriesOf(node).filter((entry) => entry !== path)
  if (!isContext) return withEntries(node, others)
  const whole = { ...fact, value: { ...fact.value, value: joined } }
  return withEntries(
    node,
    others.map((entry) => (entry === fact ? whole : entry)),
  )
}

const EXPRESSION = /^([A-Za-z][\w.]*)\s*([=!<>]=?=?)\s*(?:"([^"]*)"|'([^']*)'|(true|false|-?\d{1,15}(?:\.\d{1,15})?))$/

/** Reads `context.amount > 100` as a condition; undefined for a text that does not compare a fact with a constant. */
export function comparisonIn(text: string, { report, factNames }: Names): Json | undefined {
  const [, path, sign = '', inDouble, inSingle, bare] = EXPRESSION.exec(text.trim().slice(0, 200)) ?? []
  const operator = OPERATOR_WORDS.get(sign)
  if (path === undefined || operator === undefined) return undefined
  const value = bare === undefined ? (inDouble ?? inSingle ?? '') : constantOf(bare)
  if (typeof value !== 'number' && !['equal', 'notEqual'].includes(operator)) return undefined
  const isKnown = parseFactPath(path)?.root === 'context'
  const fact = report.search(factNames, (known) => meantFact(path, known, true)) ?? (isKnown ? path : undefined)
  return fact === undefined ? undefined : { fact, operator, value }
}

function constantOf(text: string): Json {
  return text === 'true' || text === 'false' ? text === 'true' : Number(text)
}
