import { grouped } from '../../base/grouped.ts'
import { isJsonObject, type Json } from '../../base/json.ts'
import { parseRfc3339 } from '../../base/time.ts'
import { isPlural, parseFactPath } from '../../policies/path.ts'
import { FACT_TYPES, type FactDeclaration, type FactType } from '../../policies/set.ts'
import type { Report } from '../diagnostics/report.ts'
import { actionNodes, schemaAt, typesOf } from '../schemas/actions.ts'
import { coerced } from '../suggest/meant.ts'
import { timeIn, timeOfEpoch } from '../suggest/time-constant.ts'
import { type Entry, entriesOf, keyOf, memberOf, type Node, textOf } from '../yaml/node.ts'
import { BUILT_IN_FACTS, meantFact, REQUEST_ROOTS } from './fact-names.ts'
import type { PolicyFile } from './read-files.ts'

/** The name of a declared fact in the canonical spelling of its path. */
export function factKey({ name }: Entry): string {
  return parseFactPath(name)?.text ?? name
}

/** Declared facts by path text, the first of equal ones; faults of paths, types and defaults are reported. */
export function readFacts(entries: readonly Entry[], report: Report): Map<string, FactDeclaration> {
  const facts = new Map<string, FactDeclaration>()
  for (const entry of entries) {
    const fact = readFact(entry, report)
    if (fact !== undefined && !facts.has(fact.path.text)) facts.set(fact.path.text, fact)
  }
  return facts
}

function readFact({ name, key, value }: Entry, report: Report): FactDeclaration | undefined {
  const path = parseFactPath(name)
  if (path === undefined) {
    return report.add(
      'GATE1204',
      key,
      'A fact path is made of names with dots between; other characters are written ["a b"], and * at most once.',
      meantFact(name, [], true),
    )
  }
  if (!REQUEST_ROOTS.has(path.root) || path.segments.length === 0) {
    const isBuiltIn = BUILT_IN_FACTS.has(path.text)
    const message = isBuiltIn
      ? `${path.text} is always there, and is not declared; remove it.`
      : 'Only facts under context and plan are declared, such as context.amount.'
    return report.add('GATE1205', key, message, isBuiltIn ? undefined : meantFact(name, [], true))
  }
  const type = FACT_TYPES.find((known) => known === memberOf(value, 'type')?.value)
  if (type === undefined) return undefined
  if (isPlural(path) && type !== 'list') {
    report.add('GATE1309', memberOf(value, 'type') ?? key, 'A path with * gives a list.', 'list')
  }
  const standIn = memberOf(value, 'default')
  if (standIn !== undefined && !hasType(standIn.value, type)) {
    const message = `The default of ${path.text} must have the type ${type}.`
    report.add('GATE1308', standIn, message, meantDefault(standIn.value, type))
  }
  return {
    path,
    type,
    unit: textOf(memberOf(value, 'unit')),
    description: textOf(memberOf(value, 'description')),
    default: standIn?.value,
  }
}

function meantDefault(value: Json, type: FactType): Json | undefined {
  if (type === 'date' && typeof value === 'number') return timeOfEpoch(value)
  if (type === 'date') return typeof value === 'string' ? timeIn(value) : undefined
  return coerced(value, type === 'list' ? 'array' : type)
}

/** True when a value has the declared type of a fact. */
function hasType(value: Json, type: FactType): boolean {
  if (type === 'list') return Array.isArray(value)
  if (type === 'object') return isJsonObject(value)
  if (type === 'date') return typeof value === 'string' && parseRfc3339(value) !== undefined
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}

/** The types that JSON Schema gives values of a fact. */
export const SCHEMA_TYPES: Readonly<Record<FactType, readonly string[]>> = {
  number: ['number', 'integer'],
  integer: ['number', 'integer'],
  string: ['string'],
  boolean: ['boolean'],
  date: ['string'],
  list: ['array'],
  object: ['object'],
}

/** Reports declared types that no value of an action's schema can have. */
export function checkAgainstSchemas(
  facts: ReadonlyMap<string, FactDeclaration>,
  entries: ReadonlyMap<string, Entry>,
  files: readonly PolicyFile[],
  report: Report,
): void {
  const actions = actionsByMember(files)
  for (const { path, type } of facts.values()) {
    const segments = path.segments.filter((segment) => typeof segment === 'string')
    const entry = entries.get(path.text)
    if (segments.length < path.segments.length || entry === undefined) continue
    const limits = (actions.get(memberKey(path.root, segments[0])) ?? []).flatMap(({ name, node }) => {
      const allowed = schemaTypes(memberOf(node, path.root), segments)
      return allowed === undefined ? [] : [{ name, allowed }]
    })
    const fits = (own: FactType, allowed: readonly string[]): boolean =>
      allowed.some((one) => SCHEMA_TYPES[own].includes(one))
    const suggestion = FACT_TYPES.find((one) => limits.every(({ allowed }) => fits(one, allowed)))
    const place = memberOf(entry.value, 'type') ?? keyOf(entry.value, 'type') ?? entry.key
    for (const { name, allowed } of limits.filter((limit) => !fits(type, limit.allowed))) {
      const message = `${path.text} is declared ${type}, but the schema of ${name} makes it ${allowed.join(' or ')}.`
      report.add('GATE1309', place, message, suggestion)
    }
  }
}

/**
 * Reports declarations of facts that nothing asks for, beside one that rules ask for and schemas describe: the
 * declaration is misspelt, not its users. Returns the facts meant.
 */
export function misspeltFacts(
  entries: ReadonlyMap<string, Entry>,
  files: readonly PolicyFile[],
  report: Report,
): ReadonlySet<string> {
  const actions = actionsByMember(files)
  const isDescribed = (text: string): boolean => {
    const { root = '', segments = [] } = parseFactPath(text) ?? {}
    const near = actions.get(memberKey(root, segments[0] ?? undefined)) ?? []
    return near.some(({ node }) => schemaAt(memberOf(node, root), segments) !== undefined)
  }
  const asked = new Set(files.flatMap(({ root }) => factsAskedIn(root.value)))
  const undeclared = [...asked].filter((text) => !entries.has(text) && isDescribed(text))
  const meant = new Set<string>()
  for (const [text, { key }] of undeclared.length === 0 ? [] : entries) {
    if (asked.has(text) || isDescribed(text)) continue
    const other = report.search(undeclared, (known) => meantFact(text, known, false))
    if (other === undefined) continue
    meant.add(other)
    report.add('GATE1203', key, `No rule asks for ${text}, but rules ask for ${other}, which is not declared.`, other)
  }
  return meant
}

/** Facts that conditions, scales and sums name, as they are written. */
export function factsAskedIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(factsAskedIn)
  if (!isJsonObject(value)) return []
  const { fact } = value
  return [...(typeof fact === 'string' ? [fact] : []), ...Object.values(value).flatMap(factsAskedIn)]
}

/** Actions by the members of `context` and `plan` that their schemas describe, so that no fact is compared with all actions. */
function actionsByMember(files: readonly PolicyFile[]): Map<string, { name: string; node: Node }[]> {
  const described = files
    .flatMap(({ root }) => actionNodes(root))
    .flatMap((action) =>
      [...REQUEST_ROOTS].flatMap((root) => {
        const schema = schemaAt(memberOf(action.node, root), [])
        return entriesOf(memberOf(schema, 'properties')).map(({ name }) => ({ action, key: memberKey(root, name) }))
      }),
    )
  const byKey = grouped(described, ({ key }) => key)
  return new Map([...byKey].map(([key, found]) => [key, found.map(({ action }) => action)]))
}

function memberKey(root: string, member: string | undefined): string {
  return JSON.stringify([root, member])
}

function schemaTypes(schema: Node | undefined, segments: readonly string[]): readonly string[] | undefined {
  const node = schemaAt(schema, segments)
  return node === undefined ? undefined : typesOf(node)
}
