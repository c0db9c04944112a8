import { Composer, type Document, isAlias, isMap, isScalar, isSeq, type ParsedNode, Parser, type YAMLError } from 'yaml'
import type { Json, JsonObject } from '../base/json.ts'
import { childPath, type Entry, type Node, type Place, placeAt, RESERVED_KEYS, type Source } from './node.ts'
import type { Report } from './report.ts'
import { inspectTokens } from './yaml-tokens.ts'

/** Faults of syntax in plain words; the library's own sentences speak of its tokens. */
const SYNTAX: Record<string, string> = {
  BAD_DQ_ESCAPE:
    'The double-quoted text has an unknown escape sequence; write \\\\ for a backslash, or use single quotes',
  BAD_INDENT: 'The indentation does not fit what stands above',
  BAD_SCALAR_START: 'A plain text cannot begin with this character; put the text in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'A mapping or list begins where a value must stand; begin it on a line of its own',
  BLOCK_IN_FLOW: 'A block cannot stand inside brackets',
  KEY_OVER_1024_CHARS: 'A key is longer than 1024 characters',
  MISSING_CHAR: 'A character is missing: a closing quote or bracket, a comma, a colon, or a space after one',
  MULTILINE_IMPLICIT_KEY: 'A key must stand on one line; perhaps a colon or a closing quote is missing',
  TAB_AS_INDENT: 'Indentation must be made of spaces, not tabs',
  UNEXPECTED_TOKEN: 'This cannot stand here',
}
// Reported from the tokens already, with their exact place.
const KNOWN_FROM_TOKENS = new Set([
  'BAD_ALIAS',
  'BAD_DIRECTIVE',
  'TAG_RESOLVE_FAILED',
  'MULTIPLE_ANCHORS',
  'MULTIPLE_TAGS',
  'ALIAS_PROPS',
])

/** The one document of a YAML 1.2 text (core schema) as nodes; undefined, and reported, when it is not well-formed. */
export function readYaml(source: Source, report: Report): Node | undefined {
  const tokens = [...new Parser().parse(source.text)]
  // Composing recurses, and a stack that overflows inside a regular expression ends the process.
  const { tooDeep, unclosedAt } = inspectTokens(tokens, source, report)
  if (tooDeep) return undefined
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  const [document, second] = [...composer.compose(tokens)]
  if (document === undefined || document.contents === null || isEmpty(document.contents)) {
    report.add('GATE1005', placeAt(source, 0), 'The file has no content.')
    return undefined
  }
  if (second !== undefined) {
    report.add(
      'GATE1006',
      placeAt(source, second.range[0]),
      'A file holds one document; put the others into files of their own.',
    )
  }
  if (reportSyntax(document, source, unclosedAt, report)) return undefined
  return toNode(document.contents, { source, report, path: '$', fallback: placeAt(source, 0) })
}

function isEmpty(contents: ParsedNode): boolean {
  return isScalar(contents) && contents.value === null && contents.range[0] === contents.range[1]
}

/** Reports the first fault of each line, since the others of a line follow from it. */
function reportSyntax(
  document: Document.Parsed,
  source: Source,
  unclosedAt: number | undefined,
  report: Report,
): boolean {
  const faults = document.errors.filter(({ code }) => !KNOWN_FROM_TOKENS.has(code))
  // The library says only where it gave up, often at the end of the file.
  const unclosed = faults.length > 0 ? unclosedAt : undefined
  if (unclosed !== undefined) {
    report.add('GATE1003', placeAt(source, unclosed, unclosed + 1), 'This bracket or quote is never closed.')
  }
  let reportedTo = -1
  for (const fault of faults.sort((a, b) => a.pos[0] - b.pos[0])) {
    const start = faultOffset(fault, source)
    if (start <= reportedTo || start >= (unclosed ?? Number.POSITIVE_INFINITY)) continue
    report.add('GATE1003', placeAt(source, start, fault.pos[1]), syntaxSentence(fault))
    const lineEnd = source.text.indexOf('\n', start)
    reportedTo = lineEnd < 0 ? source.text.length : lineEnd
  }
  return faults.length > 0
}

/** Where a fault is shown: its first character that can be seen, save that tabs are themselves at fault. */
function faultOffset({ code, pos }: YAMLError, source: Source): number {
  let start = pos[0]
  while (code !== 'TAB_AS_INDENT' && source.text[start] === ' ') start += 1
  return start
}

function syntaxSentence(fault: YAMLError): string {
  return `${SYNTAX[fault.code] ?? fault.message.replace(/\.$/, '')}.`
}

interface Reading {
  source: Source
  report: Report
  path: string
  /** Where a value that is not written at all is reported: its key. */
  fallback: Place
}

function toNode(parsed: ParsedNode | null, at: Reading): Node {
  if (parsed === null || isAlias(parsed)) return leafNode(null, parsed?.range ?? undefined, at)
  if (isMap(parsed)) return mapNode(parsed.items, parsed.range, at)
  if (isSeq(parsed)) {
    const items = parsed.items.map((item, i) =>
      toNode(item as ParsedNode | null, { ...at, path: childPath(at.path, i) }),
    )
    return {
      ...leafNode(
        items.map(({ value }) => value),
        parsed.range,
        at,
      ),
      items,
    }
  }
  return leafNode(scalarValue(parsed.value, leafNode(null, parsed.range, at), at.report), parsed.range, at)
}

function leafNode(value: Json, range: readonly number[] | undefined, { source, path, fallback }: Reading): Node {
  const [start = fallback.start, end = start] = range ?? []
  const written = end > start
  return {
    source,
    path,
    start: written ? start : fallback.start,
    end: written ? end : fallback.end,
    value,
    entries: undefined,
    items: undefined,
  }
}

function mapNode(pairs: readonly { key: unknown; value: unknown }[], range: readonly number[], at: Reading): Node {
  const entries = new Map<string, Entry>()
  const value: JsonObject = Object.create(null)
  for (const pair of pairs) {
    const entry = readEntry(pair.key as ParsedNode, pair.value as ParsedNode | null, at)
    if (entry === undefined || !isNewKey(entry, entries, at.report)) continue
    entries.set(entry.name, entry)
    value[entry.name] = entry.value.value
  }
  return { ...leafNode(value, range, at), entries }
}

function readEntry(key: ParsedNode, value: ParsedNode | null, at: Reading): Entry | undefined {
  const place = leafNode(null, key.range, at)
  if (!isScalar(key) || typeof key.value !== 'string') {
    const message = isScalar(key) ? 'A key must be text; put it in quotes.' : 'A key must be text.'
    at.report.add('GATE1013', place, message, isScalar(key) && key.source ? `"${key.source}"` : undefined)
    toNode(value, { ...at, fallback: place })
    return undefined
  }
  const path = childPath(at.path, key.value)
  const keyPlace: Place = { ...place, path }
  if (!key.value.isWellFormed()) {
    at.report.add('GATE1016', keyPlace, 'The key has half of a surrogate pair.')
    return undefined
  }
  return { name: key.value, key: keyPlace, value: toNode(value, { ...at, path, fallback: keyPlace }) }
}

function isNewKey(entry: Entry, entries: ReadonlyMap<string, Entry>, report: Report): boolean {
  if (RESERVED_KEYS.has(entry.name)) {
    report.add('GATE1012', entry.key, `The key ${entry.name} is reserved.`)
    return false
  }
  if (!entries.has(entry.name)) return true
  report.add('GATE1011', entry.key, `The key ${JSON.stringify(entry.name)} appears twice in this mapping.`)
  return false
}

function scalarValue(value: unknown, node: Node, report: Report): Json {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return value
    report.add('GATE1016', node, 'The text has half of a surrogate pair.')
    return ''
  }
  if (typeof value === 'number') {
    if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return value
    report.add('GATE1015', node, 'The number is infinite, undefined, or an integer beyond ±(2^53−1).')
    return 0
  }
  return typeof value === 'boolean' ? value : null
}
