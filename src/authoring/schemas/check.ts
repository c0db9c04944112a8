import type { Json } from '../../base/json.ts'
import { compilePattern } from '../../base/pattern.ts'
import { DIAGNOSTICS } from '../diagnostics/codes.ts'
import type { Report } from '../diagnostics/report.ts'
import { LIMITS } from '../load/limits.ts'
import { closest, synonyms } from '../suggest/closest.ts'
import { booleanIn, coerced, listIn } from '../suggest/meant.ts'
import { KEYWORD_WORDS, SCHEMA_TYPE_WORDS } from '../suggest/synonyms.ts'
import {
  type Entry,
  entriesOf,
  itemsOf,
  keyOf,
  memberOf,
  type Node,
  nullHint,
  numberOf,
  type Place,
  textOf,
  wordOf,
} from '../yaml/node.ts'
import { FORMATS, KEYWORDS, type Kind, TYPES } from './keywords.ts'
import { patternFault, tooManyParts } from './pattern-fault.ts'
import { checkSense } from './sense.ts'

interface Walk {
  report: Report
  /** Names under the root's `$defs`. */
  definitions: ReadonlySet<string>
}

/** Advice on keywords without a replacement of the same meaning. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['$schema', 'Remove it: every schema here is JSON Schema 2020-12.'],
  ['$id', 'Remove it: a schema is known by its action.'],
  ['id', 'Remove it: a schema is known by its action.'],
  ['nullable', 'Write type: [string, "null"], with the type that it is beside null.'],
  ['$dynamicRef', 'Write $ref.'],
  ['additionalItems', 'Write items beside prefixItems.'],
])

/** Reports each fault of a schema at its own place; true when it can be compiled. Recursion is checked separately. */
export function checkSchema(root: Node, report: Report): boolean {
  let isSound = true
  const add: Report['add'] = (code, ...fault) => {
    if (DIAGNOSTICS[code].severity === 'error') isSound = false
    return report.add(code, ...fault)
  }
  const declared = [...entriesOf(memberOf(root, '$defs')), ...entriesOf(memberOf(root, 'definitions'))]
  checkNode(root, { report: { ...report, add }, definitions: new Set(declared.map(({ name }) => name)) })
  return isSound
}

function checkNode(node: Node, walk: Walk): void {
  if (typeof node.value === 'boolean') return
  if (node.entries === undefined) {
    const type = closest(wordOf(node), TYPES, SCHEMA_TYPE_WORDS)
    const hint = node.items === undefined ? '' : '; a schema for each position stands under prefixItems'
    const message = `A schema is a mapping, or true or false${hint}.`
    const meant = type === undefined ? booleanIn(wordOf(node)) : { type }
    walk.report.add('GATE1402', node, message, meant)
    for (const item of itemsOf(node)) if (item.entries !== undefined) checkNode(item, walk)
    return
  }
  if (reportMembers(node, walk)) return
  for (const entry of node.entries.values()) {
    const [kind] = KEYWORDS.get(entry.name) ?? []
    if (kind === undefined) checkUnknown(entry, node, walk)
    else checkKeyword(entry.name, kind, entry.value, walk)
  }
  if (checkUniqueItems(node, walk.report)) checkPartners(node, walk.report)
  checkSense(node, walk.report)
}

/** Reports members that are described without `properties`, as one fault: `{amount: {type: number}, to: {type: string}}`. */
function reportMembers(node: Node, walk: Walk): boolean {
  const [first, ...more] = entriesOf(node)
  if (first === undefined || more.length === 0) return false
  const isMember = ({ name, value }: Entry): boolean => !KEYWORDS.has(name) && memberOf(value, 'type') !== undefined
  if (![first, ...more].every(isMember)) return false
  const message = `${JSON.stringify(first.name.slice(0, 100))} is not a schema keyword. Put the members under properties.`
  walk.report.add('GATE1401', first.key, message)
  return true
}

function checkUnknown({ name, key, value }: Entry, node: Node, walk: Walk): void {
  const hint = HINTS.get(name)
  const free = [...KEYWORDS.keys()].filter((keyword) => node.entries?.has(keyword) !== true)
  const meant = hint === undefined ? closest(name, free, KEYWORD_WORDS) : undefined
  const message = `${JSON.stringify(name.slice(0, 100))} is not a supported schema keyword.`
  walk.report.add('GATE1401', key, hint === undefined ? message : `${message} ${hint}`, meant)
  // A misspelt keyword does not hide what stands below it.
  const [meantKind] = KEYWORDS.get(meant ?? '') ?? []
  if (meant !== undefined && meantKind?.startsWith('schema') === true) checkKeyword(meant, meantKind, value, walk)
}

/** Form of the value of a keyword. */
interface Form {
  readonly fits: (value: Node) => boolean
  readonly wanted: string
  /** The value that another one means. */
  readonly meant?: (value: Json) => Json | undefined
}

const isMapping = ({ entries }: Node): boolean => entries !== undefined
const isFilledList = (node: Node): boolean => itemsOf(node).length > 0

/** Forms by kind; the other kinds have checks of their own, or take any value. */
const FORMS: Partial<Record<Kind, Form>> = {
  schemas: { fits: isMapping, wanted: 'a mapping from names to schemas' },
  patterns: { fits: isMapping, wanted: 'a mapping from patterns to schemas' },
  needs: { fits: isMapping, wanted: 'a mapping from names to lists of names' },
  schemaList: { fits: isFilledList, wanted: 'a list of schemas that is not empty' },
  list: { fits: isFilledList, wanted: 'a list that is not empty', meant: listIn },
  number: scalar('number', 'a number'),
  positive: scalar('number', 'a number above 0', (value) => Number(value) > 0),
  count: {
    fits: ({ value }) => Number.isInteger(value) && Number(value) >= 0,
    wanted: 'an integer of at least 0',
    meant: (value) => coerced(value, 'integer'),
  },
  text: scalar('string', 'a text'),
  pattern: scalar('string', 'a pattern'),
  flag: scalar('boolean', 'true or false'),
}

function scalar(type: string, wanted: string, holds: (value: Json) => boolean = () => true): Form {
  return {
    fits: ({ value }) => typeof value === type && holds(value),
    wanted,
    meant: (value) => coerced(value, type),
  }
}

/** Checks of what stands in a value of the right form. */
const CHECKS: Partial<Record<Kind, (value: Node, walk: Walk, keyword: string) => void>> = {
  schema: checkNode,
  schemas(value, walk) {
    for (const entry of entriesOf(value)) checkNode(entry.value, walk)
  },
  patterns(value, walk) {
    for (const { name, key, value: schema } of entriesOf(value))
      if (checkPattern(key, name, walk.report)) checkNode(schema, walk)
  },
  schemaList(value, walk) {
    for (const item of itemsOf(value)) checkNode(item, walk)
  },
  names: checkNames,
  needs(value, walk, keyword) {
    for (const entry of entriesOf(value)) checkNames(entry.value, walk, keyword)
  },
  type: checkType,
  format: checkFormat,
  ref: checkReference,
  pattern: (value, { report }) => checkPattern(value, wordOf(value), report),
}

function checkKeyword(name: string, kind: Kind, value: Node, walk: Walk): void {
  const form = FORMS[kind]
  if (form === undefined || form.fits(value)) CHECKS[kind]?.(value, walk, name)
  else {
    const message = `${name} needs ${form.wanted}${nullHint(value)}.`
    walk.report.add('GATE1402', value, message, form.meant?.(value.value))
  }
}

function checkNames(node: Node, { report }: Walk, keyword: string): void {
  if (node.items === undefined) {
    const isFlag = typeof node.value === 'boolean'
    const hint = isFlag ? '; it stands beside properties and names those that must be there' : ''
    const meant = textOf(node) === undefined ? undefined : [node.value]
    report.add('GATE1402', node, `${keyword} needs a list of names${hint}.`, meant)
  }
  const seen = new Set<string>()
  for (const item of itemsOf(node)) {
    const name = textOf(item)
    if (name === undefined) report.add('GATE1402', item, `${keyword} needs names.`, coerced(item.value, 'string'))
    else if (seen.has(name)) report.add('GATE1402', item, `${keyword} names ${JSON.stringify(name)} twice.`)
    else seen.add(name)
  }
}

function checkType(node: Node, { report }: Walk): void {
  const names = node.items ?? [node]
  if (names.length === 0) report.add('GATE1402', node, 'type needs at least one type.')
  for (const name of names) {
    if (TYPES.includes(textOf(name) ?? '')) continue
    const isNull = /^(?:null|~)$/i.test(name.source.text.slice(name.start, name.end))
    const message = isNull ? 'The type null stands in quotes.' : `A type is ${TYPES.join(', ')}.`
    report.add('GATE1402', name, message, isNull ? 'null' : closest(wordOf(name), TYPES, SCHEMA_TYPE_WORDS))
  }
}

function checkPattern(place: Place, pattern: string, report: Report): boolean {
  const compiled =
    pattern.length > LIMITS.pattern ? { fault: `more than ${LIMITS.pattern} characters` } : compilePattern(pattern)
  if ('fault' in compiled) report.add('GATE1405', place, patternFault(compiled.fault, 'schema'))
  else if (compiled.size > LIMITS.patternParts) report.add('GATE1405', place, tooManyParts(compiled))
  else return true
  return false
}

function checkFormat(node: Node, { report }: Walk): void {
  if (FORMATS.includes(textOf(node) ?? '')) return
  report.add('GATE1408', node, `A format is ${FORMATS.join(', ')}.`, closest(wordOf(node), FORMATS, FORMAT_WORDS))
}

const FORMAT_WORDS = synonyms({ uri: 'url link', 'date-time': 'timestamp', ipv4: 'ip', uuid: 'guid', email: 'mail' })

function checkReference(node: Node, { report, definitions }: Walk): void {
  const text = textOf(node) ?? ''
  const name = /^#\/\$defs\/([^/%~]+)$/.exec(text)?.[1]
  if (name !== undefined && definitions.has(name)) return
  const last = text.slice(text.lastIndexOf('/') + 1)
  const meant = report.search(definitions, (known) => closest(last, known))
  const hint = /^https?:/.test(text) ? ' Nothing is fetched; write the schema under $defs.' : ''
  report.add('GATE1403', node, `A $ref is #/$defs/ and a name declared there.${hint}`, meant && `#/$defs/${meant}`)
}

/** Comparing all items with all others takes quadratic time in the caller's input. */
function checkUniqueItems(node: Node, report: Report): boolean {
  if (memberOf(node, 'uniqueItems')?.value !== true) return true
  const maxItems = memberOf(node, 'maxItems')
  const most = numberOf(maxItems)
  if (most !== undefined && most <= LIMITS.uniqueItems) return true
  const message = `uniqueItems needs maxItems of at most ${LIMITS.uniqueItems} beside it.`
  if (maxItems !== undefined && most !== undefined) report.add('GATE1406', maxItems, message, LIMITS.uniqueItems)
  else report.add('GATE1406', keyOf(node, 'uniqueItems') ?? node, message)
  return false
}

/** Keywords without effect unless one of those named stands beside them. */
const PARTNERS: readonly [string, ...string[]][] = [
  ['then', 'if'],
  ['else', 'if'],
  ['if', 'then', 'else'],
  ['minContains', 'contains'],
  ['maxContains', 'contains'],
]

function checkPartners(node: Node, report: Report): void {
  for (const [keyword, ...partners] of PARTNERS) {
    const key = keyOf(node, keyword)
    if (key === undefined || partners.some((partner) => keyOf(node, partner) !== undefined)) continue
    report.add('GATE1402', key, `${keyword} says nothing without ${partners.join(' or ')} beside it.`)
  }
}
