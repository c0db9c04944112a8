import { compilePattern } from '../base/schema.ts'
import { LIMITS } from './limits.ts'
import { entriesOf, itemsOf, keyOf, memberOf, type Node, numberOf, textOf, wordOf } from './node.ts'
import type { Report } from './report.ts'
import { closest } from './suggest.ts'

export type Kind =
  | 'schema'
  | 'schemas'
  | 'schemaList'
  | 'type'
  | 'number'
  | 'count'
  | 'text'
  | 'names'
  | 'list'
  | 'flag'
  | 'any'
  | 'pattern'
  | 'format'
  | 'ref'
  | 'patterns'
  | 'needs'

export const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
export const FORMATS = ['date', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'time', 'uri', 'uuid']

/** The keywords of JSON Schema 2020-12 that a policy may use, and what each takes. */
export const KEYWORDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...each(
    'schema',
    'items',
    'contains',
    'additionalProperties',
    'unevaluatedProperties',
    'unevaluatedItems',
    'propertyNames',
    'not',
    'if',
    'then',
    'else',
  ),
  ...each('schemas', 'properties', '$defs', 'dependentSchemas'),
  ...each('schemaList', 'allOf', 'anyOf', 'oneOf', 'prefixItems'),
  ...each('number', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'),
  ...each(
    'count',
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
    'minProperties',
    'maxProperties',
    'minContains',
    'maxContains',
  ),
  ...each('text', 'title', 'description', '$comment'),
  ...each('flag', 'uniqueItems', 'deprecated', 'readOnly', 'writeOnly'),
  ...each('any', 'const', 'default'),
  ...each('list', 'enum', 'examples'),
  ['type', 'type'],
  ['required', 'names'],
  ['dependentRequired', 'needs'],
  ['pattern', 'pattern'],
  ['patternProperties', 'patterns'],
  ['format', 'format'],
  ['$ref', 'ref'],
])

function each(kind: Kind, ...keywords: string[]): [string, Kind][] {
  return keywords.map((keyword) => [keyword, kind])
}

interface Walk {
  report: Report
  /** Names under the root's `$defs`. */
  definitions: ReadonlySet<string>
}

/** Reports each fault of a schema at its own place; true when it can be compiled. Recursion is checked apart. */
export function checkSchema(root: Node, report: Report): boolean {
  const definitions = new Set(entriesOf(memberOf(root, '$defs')).map(({ name }) => name))
  return checkNode(root, { report, definitions })
}

function checkNode(node: Node, walk: Walk): boolean {
  if (typeof node.value === 'boolean') return true
  if (node.entries === undefined) {
    walk.report.add('GATE1402', node, 'A schema is a mapping, or true or false.')
    return false
  }
  let sound = true
  for (const { name, key, value } of entriesOf(node)) {
    const kind = KEYWORDS.get(name)
    if (kind === undefined) {
      walk.report.add(
        'GATE1401',
        key,
        `${JSON.stringify(name)} is no schema keyword that is supported.`,
        closest(name, KEYWORDS.keys()),
      )
      sound = false
    } else if (!checkKeyword(kind, value, walk)) sound = false
  }
  return checkUniqueItems(node, walk.report) && sound
}

function checkKeyword(kind: Kind, value: Node, walk: Walk): boolean {
  switch (kind) {
    case 'schema':
      return checkNode(value, walk)
    case 'schemas':
      return isMapping(value, walk) && every(entriesOf(value), (entry) => checkNode(entry.value, walk))
    case 'patterns':
      return (
        isMapping(value, walk) &&
        every(entriesOf(value), (entry) => checkPattern(entry.key, entry.name, walk) && checkNode(entry.value, walk))
      )
    case 'schemaList':
      return isFilledList(value, walk) && every(itemsOf(value), (item) => checkNode(item, walk))
    case 'names':
      return holds(value.items?.every((item) => textOf(item) !== undefined) === true, value, 'a list of names', walk)
    case 'needs':
      return isMapping(value, walk) && every(entriesOf(value), (entry) => checkKeyword('names', entry.value, walk))
    case 'list':
      return isFilledList(value, walk)
    case 'type':
      return checkType(value, walk)
    case 'number':
      return holds(numberOf(value) !== undefined, value, 'a number', walk)
    case 'count':
      return holds(Number.isInteger(value.value) && Number(value.value) >= 0, value, 'an integer of at least 0', walk)
    case 'text':
      return holds(textOf(value) !== undefined, value, 'a text', walk)
    case 'flag':
      return holds(typeof value.value === 'boolean', value, 'true or false', walk)
    case 'pattern':
      return (
        holds(textOf(value) !== undefined, value, 'a pattern', walk) && checkPattern(value, textOf(value) ?? '', walk)
      )
    case 'format':
      return checkFormat(value, walk)
    case 'ref':
      return checkReference(value, walk)
    case 'any':
      return true
  }
}

/** Like Array.every, but asks all, so that every fault is reported. */
function every<T>(items: readonly T[], check: (item: T) => boolean): boolean {
  return items.map(check).every(Boolean)
}

function holds(condition: boolean, node: Node, wanted: string, walk: Walk): boolean {
  if (!condition) walk.report.add('GATE1402', node, `The keyword needs ${wanted}.`)
  return condition
}

function isMapping(node: Node, walk: Walk): boolean {
  return holds(node.entries !== undefined, node, 'a mapping', walk)
}

function isFilledList(node: Node, walk: Walk): boolean {
  return holds(node.items !== undefined && node.items.length > 0, node, 'a list that is not empty', walk)
}

function checkType(node: Node, walk: Walk): boolean {
  const names = node.items ?? [node]
  if (names.length === 0) return holds(false, node, 'at least one type', walk)
  return every(names, (name) => {
    const known = TYPES.includes(textOf(name) ?? '')
    if (!known) walk.report.add('GATE1402', name, `A type is ${TYPES.join(', ')}.`, closest(wordOf(name), TYPES))
    return known
  })
}

function checkPattern(
  place: Node | { source: Node['source']; path: string; start: number; end: number },
  pattern: string,
  walk: Walk,
): boolean {
  const compiled =
    pattern.length > LIMITS.pattern ? { fault: `more than ${LIMITS.pattern} characters` } : compilePattern(pattern)
  if (!('fault' in compiled)) return true
  walk.report.add('GATE1405', place, `The pattern does not compile as RE2: ${compiled.fault}.`)
  return false
}

function checkFormat(node: Node, walk: Walk): boolean {
  const known = FORMATS.includes(textOf(node) ?? '')
  if (!known) walk.report.add('GATE1408', node, `A format is ${FORMATS.join(', ')}.`, closest(wordOf(node), FORMATS))
  return known
}

function checkReference(node: Node, walk: Walk): boolean {
  const name = /^#\/\$defs\/([^/%~]+)$/.exec(textOf(node) ?? '')?.[1]
  if (name !== undefined && walk.definitions.has(name)) return true
  const suggestion = name === undefined ? undefined : closest(name, walk.definitions)
  walk.report.add(
    'GATE1403',
    node,
    'A $ref is #/$defs/ and a name declared there.',
    suggestion && `#/$defs/${suggestion}`,
  )
  return false
}

/** Comparing all items with all others takes quadratic time in what the caller sends. */
function checkUniqueItems(node: Node, report: Report): boolean {
  if (memberOf(node, 'uniqueItems')?.value !== true) return true
  const most = numberOf(memberOf(node, 'maxItems'))
  if (most !== undefined && most <= LIMITS.uniqueItems) return true
  report.add(
    'GATE1406',
    keyOf(node, 'uniqueItems') ?? node,
    `uniqueItems needs maxItems of at most ${LIMITS.uniqueItems} beside it.`,
  )
  return false
}
