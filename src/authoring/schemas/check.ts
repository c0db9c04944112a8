import type { Json } from '../../base/json.ts'
import { compilePattern } from '../../base/schema.ts'
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
import { patternFault } from './pattern-fault.ts'
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
  const declared = [...entriesOf(memberOf(root, '$defs')), ...entriesOf(memberOf(root, 'definitions'))]
  return checkNode(root, { report, definitions: new Set(declared.map(({ name }) => name)) })
}

function checkNode(node: Node, walk: Walk): boolean {
  if (typeof node.value === 'boolean') return true
  if (node.entries === undefined) {
    const type = closest(wordOf(node), TYPES, SCHEMA_TYPE_WORDS)
    const hint = node.items === undefined ? '' : '; a schema for each position stands under prefixItems'
    const message = `A schema is a mapping, or true or false${hint}.`
    const meant = type === undefined ? booleanIn(wordOf(node)) : { type }
    walk.report.add('GATE1402', node, message, meant)
    for (const item of itemsOf(node)) if (item.entries !== undefined) checkNode(item, walk)
    return false
  }
  const sound = every(entriesOf(node), (entry) => checkEntry(entry, node, walk))
  const alone = checkUniqueItems(node, walk.report) && checkPartners(node, walk.report)
  const sensible = checkSense(node, walk.report)
  return sound && alone && sensible
}

function checkEntry({ name, key, value }: Entry, node: Node, walk: Walk): boolean {
  const [kind] = KEYWORDS.get(name) ?? []
  if (kind !== undefined) return checkKeyword(name, kind, value, walk)
  const hint = HINTS.get(name)
  const free = [...KEYWORDS.keys()].filter((keyword) => node.entries?.has(keyword) !== true)
  const meant = hint === undefined ? closest(name, free, KEYWORD_WORDS) : undefined
  const message = `${JSON.stringify(name.slice(0, 100))} is no schema keyword that is supported.`
  walk.report.add('GATE1401', key, hint === undefined ? message : `${message} ${hint}`, meant)
  // A misspelt keyword does not hide what stands below it.
  const [meantKind] = KEYWORDS.get(meant ?? '') ?? []
  if (meant !== undefined && meantKind?.startsWith('schema') === true) checkKeyword(meant, meantKind, value, walk)
  return false
}

function checkKeyword(name: string, kind: Kind, value: Node, walk: Walk): boolean {
  const needs: Needs = (holds, wanted, suggestion) => {
    if (!holds) walk.report.add('GATE1402', value, `${name} needs ${wanted}${nullHint(value)}.`, suggestion)
    return holds
  }
  switch (kind) {
    case 'schema':
      return checkNode(value, walk)
    case 'schemas':
      return (
        needs(value.entries !== undefined, 'a mapping from names to schemas') &&
        every(entriesOf(value), (entry) => checkNode(entry.value, walk))
      )
    case 'patterns':
      return (
        needs(value.entries !== undefined, 'a mapping from patterns to schemas') &&
        every(entriesOf(value), (entry) => checkPattern(entry.key, entry.name, walk) && checkNode(entry.value, walk))
      )
    case 'schemaList':
      return (
        needs(itemsOf(value).length > 0, 'a list of schemas that is not empty') &&
        every(itemsOf(value), (item) => checkNode(item, walk))
      )
    case 'names':
      return checkNames(name, value, walk)
    case 'needs':
      return (
        needs(value.entries !== undefined, 'a mapping from names to lists of names') &&
        every(entriesOf(value), (entry) => checkNames(name, entry.value, walk))
      )
    case 'type':
      return checkType(value, walk)
    case 'format':
      return checkFormat(value, walk)
    case 'ref':
      return checkReference(value, walk)
    case 'pattern':
      return (
        needs(textOf(value) !== undefined, 'a pattern', coerced(value.value, 'string')) &&
        checkPattern(value, textOf(value) ?? '', walk)
      )
    default:
      return checkScalar(name, kind, value, needs)
  }
}

type Needs = (holds: boolean, wanted: string, suggestion?: Json) => boolean

function checkScalar(name: string, kind: Kind, value: Node, needs: Needs): boolean {
  switch (kind) {
    case 'list':
      return needs(itemsOf(value).length > 0, 'a list that is not empty', listIn(value.value))
    case 'number': {
      const number = numberOf(value)
      const isSound = number !== undefined && (name !== 'multipleOf' || number > 0)
      return needs(isSound, name === 'multipleOf' ? 'a number above 0' : 'a number', coerced(value.value, 'number'))
    }
    case 'count': {
      const isCount = Number.isInteger(value.value) && Number(value.value) >= 0
      return needs(isCount, 'an integer of at least 0', coerced(value.value, 'integer'))
    }
    case 'text':
      return needs(textOf(value) !== undefined, 'a text', coerced(value.value, 'string'))
    case 'flag':
      return needs(typeof value.value === 'boolean', 'true or false', coerced(value.value, 'boolean'))
    default:
      return true
  }
}

/** Like Array.every, but checks all items, so that every fault is reported. */
function every<T>(items: readonly T[], check: (item: T) => boolean): boolean {
  return items.map(check).every(Boolean)
}

function checkNames(keyword: string, node: Node, walk: Walk): boolean {
  const fault = (place: Node, message: string, suggestion?: Json): boolean => {
    walk.report.add('GATE1402', place, message, suggestion)
    return false
  }
  if (node.items === undefined) {
    const hint =
      typeof node.value === 'boolean' ? '; it stands beside properties and names those that must be there' : ''
    return fault(
      node,
      `${keyword} needs a list of names${hint}.`,
      textOf(node) === undefined ? undefined : [node.value],
    )
  }
  const seen = new Set<string>()
  return every(node.items, (item) => {
    const name = textOf(item)
    if (name === undefined) return fault(item, `${keyword} needs names.`, coerced(item.value, 'string'))
    if (seen.has(name)) return fault(item, `${keyword} names ${JSON.stringify(name)} twice.`)
    seen.add(name)
    return true
  })
}

function checkType(node: Node, walk: Walk): boolean {
  const names = node.items ?? [node]
  if (names.length === 0) {
    walk.report.add('GATE1402', node, 'type needs at least one type.')
    return false
  }
  return every(names, (name) => {
    if (TYPES.includes(textOf(name) ?? '')) return true
    const isNull = /^(?:null|~)$/i.test(name.source.text.slice(name.start, name.end))
    const message = isNull ? 'The type null stands in quotes.' : `A type is ${TYPES.join(', ')}.`
    walk.report.add('GATE1402', name, message, isNull ? 'null' : closest(wordOf(name), TYPES, SCHEMA_TYPE_WORDS))
    return false
  })
}

function checkPattern(place: Place, pattern: string, walk: Walk): boolean {
  const compiled =
    pattern.length > LIMITS.pattern ? { fault: `more than ${LIMITS.pattern} characters` } : compilePattern(pattern)
  if (!('fault' in compiled)) return true
  walk.report.add('GATE1405', place, patternFault(compiled.fault, 'schema'))
  return false
}

function checkFormat(node: Node, walk: Walk): boolean {
  const known = FORMATS.includes(textOf(node) ?? '')
  const meant = closest(wordOf(node), FORMATS, FORMAT_WORDS)
  if (!known) walk.report.add('GATE1408', node, `A format is ${FORMATS.join(', ')}.`, meant)
  return known
}

const FORMAT_WORDS = synonyms({ uri: 'url link', 'date-time': 'timestamp', ipv4: 'ip', uuid: 'guid', email: 'mail' })

function checkReference(node: Node, walk: Walk): boolean {
  const text = textOf(node) ?? ''
  const name = /^#\/\$defs\/([^/%~]+)$/.exec(text)?.[1]
  if (name !== undefined && walk.definitions.has(name)) return true
  const last = text.slice(text.lastIndexOf('/') + 1)
  const meant = walk.report.search(walk.definitions, (known) => closest(last, known))
  const hint = /^https?:/.test(text) ? ' Nothing is fetched; write the schema under $defs.' : ''
  walk.report.add('GATE1403', node, `A $ref is #/$defs/ and a name declared there.${hint}`, meant && `#/$defs/${meant}`)
  return false
}

/** Comparing all items with all others takes quadratic time in the caller's input. */
function checkUniqueItems(node: Node, report: Report): boolean {
  if (memberOf(node, 'uniqueItems')?.value !== true) return true
  const most = numberOf(memberOf(node, 'maxItems'))
  if (most !== undefined && most <= LIMITS.uniqueItems) return true
  const message = `uniqueItems needs maxItems of at most ${LIMITS.uniqueItems} beside it.`
  const tooMany = most === undefined ? undefined : memberOf(node, 'maxItems')
  if (tooMany !== undefined) report.add('GATE1406', tooMany, message, LIMITS.uniqueItems)
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

function checkPartners(node: Node, report: Report): boolean {
  return every(PARTNERS, ([keyword, ...partners]) => {
    const key = keyOf(node, keyword)
    if (key === undefined || partners.some((partner) => keyOf(node, partner) !== undefined)) return true
    report.add('GATE1402', key, `${keyword} says nothing without ${partners.join(' or ')} beside it.`)
    return false
  })
}
