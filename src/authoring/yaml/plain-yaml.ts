import { createReport, type Report } from '../diagnostics/report.ts'
import { LIMITS } from '../load/limits.ts'
import { childPath, lineEndOf, type Node, type Place, type Source } from './node.ts'
import { plainValue } from './plain-scalars.ts'
import { mappingOf } from './repeated-keys.ts'

/** Thrown at what the library reads, which is anything beyond the plainest form. */
const NOT_PLAIN = new Error('the text is not plain')

/** A key of more than 1,024 characters is a fault (YAML 1.2.2, 7.4.2). */
const MAX_KEY = 1000
/** Control characters but line breaks, and byte order marks. */
const ODD = /[^\P{Cc}\n]|\ufeff/u
const SPACE = / */y
const REST = / *(?: #[^\n]*)?(?:\n|$)/y
const KEY = /(?:([A-Za-z_][A-Za-z0-9_.*/-]*)|"([^"\\\n]*)"|'([^'\n]*)'):(?= |\n|$)/y
const QUOTED = /"([^"\\\n]*)"|'([^'\n]*)'/y
const BLOCK_TEXT = /(?:[A-Za-z0-9_./$(]|-[0-9])[^\n]*/y
const FLOW_TEXT = /(?:[A-Za-z0-9_./$(]|-[0-9])[^\n,[\]{}]*/y

/** State of the reader. Between two lines it stands at the text of the next one. */
interface Reading {
  readonly source: Source
  readonly text: string
  readonly report: Report
  at: number
  /** Column of the line's text, from 0; -1 at the end of the document. */
  column: number
  /** Deepest column of the comments before this line that have lines of their own; -1 without one. */
  comment: number
  /** End of the line before, with its line break. */
  lineEnd: number
}

/**
 * Reads YAML as policies are nearly always written: block mappings and lists, flow collections, texts of one line without
 * escapes, comments. Undefined for anything else, and for what would be reported: the library reads that, in ten times the
 * time. The result equals that of the library, to the offset (docs/decisions/0035).
 */
export function plainYaml(source: Source): Node | undefined {
  const { text } = source
  if (source.guessed !== undefined || ODD.test(text) || !text.isWellFormed()) return undefined
  const report = createReport()
  const reading: Reading = { source, text, report, at: 0, column: -1, comment: -1, lineEnd: 0 }
  try {
    nextLine(reading)
    if (reading.column !== 0) return undefined
    const root = blockMap(reading, 0, '$', 1)
    // A line that belongs to no block, as one that goes on with the text before, ends all of them.
    return reading.column < 0 && report.count() === 0 ? root : undefined
  } catch (error) {
    if (error !== NOT_PLAIN) throw error
    return undefined
  }
}

/** The match at the current offset, which it passes. @throws NOT_PLAIN */
function take(reading: Reading, pattern: RegExp): RegExpExecArray {
  pattern.lastIndex = reading.at
  const match = pattern.exec(reading.text)
  if (match === null) throw NOT_PLAIN
  reading.at = pattern.lastIndex
  return match
}

/** Passes empty lines and comments, up to the text of a line. */
function nextLine(reading: Reading): void {
  const { text } = reading
  reading.comment = -1
  for (;;) {
    const start = reading.at
    take(reading, SPACE)
    const column = reading.at - start
    const next = text[reading.at]
    if (next === '#') {
      reading.comment = Math.max(reading.comment, column)
      reading.at = lineEndOf(text, reading.at)
    } else if (next !== '\n') {
      reading.column = next === undefined ? -1 : column
      return
    }
    if (text[reading.at] === '\n') reading.at += 1
  }
}

/** Passes the end of a line, and what stands before the next one. */
function endLine(reading: Reading): void {
  take(reading, REST)
  reading.lineEnd = reading.at
  nextLine(reading)
}

function isDash({ text, at }: Reading): boolean {
  return text[at] === '-' && (text[at + 1] === ' ' || text[at + 1] === '\n' || text[at + 1] === undefined)
}

/** A comment before the end of a block, as deep as it, is part of it for the library. */
function endBlock({ comment }: Reading, indent: number): void {
  if (comment >= indent && comment > 0) throw NOT_PLAIN
}

function blockMap(reading: Reading, indent: number, path: string, depth: number): Node {
  const start = reading.at
  const entries = []
  do {
    const { name, key } = readKey(reading, path)
    entries.push({ name, key, value: member(reading, indent, key.path, depth) })
  } while (reading.column === indent)
  endBlock(reading, indent)
  return { source: reading.source, path, start, end: reading.lineEnd, ...mappingOf(entries, reading.report) }
}

function member(reading: Reading, indent: number, path: string, depth: number): Node {
  REST.lastIndex = reading.at
  if (!REST.test(reading.text)) return inline(reading, indent, path, depth)
  endLine(reading)
  const { column } = reading
  if (isDash(reading) && column >= indent) return blockList(reading, column, path, depth + 1)
  if (column <= indent) throw NOT_PLAIN
  return blockMap(reading, column, path, deeper(depth))
}

function blockList(reading: Reading, indent: number, path: string, depth: number): Node {
  const { source, at: start } = reading
  const items: Node[] = []
  do {
    reading.at += 1
    take(reading, SPACE)
    items.push(listItem(reading, indent, childPath(path, items.length), deeper(depth)))
  } while (reading.column === indent && isDash(reading))
  endBlock(reading, indent)
  return { source, path, start, end: reading.lineEnd, value: items.map(({ value }) => value), items }
}

function listItem(reading: Reading, indent: number, path: string, depth: number): Node {
  const { text, at } = reading
  KEY.lastIndex = at
  if (!KEY.test(text)) return inline(reading, indent, path, depth)
  return blockMap(reading, at - text.lastIndexOf('\n', at) - 1, path, depth)
}

/** A value that ends with its line, unless it is in brackets. */
function inline(reading: Reading, indent: number, path: string, depth: number): Node {
  take(reading, SPACE)
  const node = flowNode(reading, indent, path, depth) ?? scalar(reading, path, BLOCK_TEXT)
  endLine(reading)
  return node
}

function flowNode(reading: Reading, indent: number, path: string, depth: number): Node | undefined {
  const first = reading.text[reading.at]
  if (first === '[') return flowList(reading, indent, path, deeper(depth))
  if (first === '{') return flowMap(reading, indent, path, deeper(depth))
  return first === '"' || first === "'" ? quoted(reading, path) : undefined
}

function flowMap(reading: Reading, indent: number, path: string, depth: number): Node {
  const { source, report, at: start } = reading
  const entries = []
  while (!closes(reading, indent, '}')) {
    const { name, key } = readKey(reading, path)
    flowSpace(reading, indent)
    entries.push({ name, key, value: flowValue(reading, indent, key.path, depth, '}') })
  }
  return { source, path, start, end: reading.at, ...mappingOf(entries, report) }
}

function flowList(reading: Reading, indent: number, path: string, depth: number): Node {
  const { source, at: start } = reading
  const items: Node[] = []
  while (!closes(reading, indent, ']'))
    items.push(flowValue(reading, indent, childPath(path, items.length), depth, ']'))
  return { source, path, start, end: reading.at, value: items.map(({ value }) => value), items }
}

/** Passes an opening bracket or a comma. True at the closing bracket, which it passes too. */
function closes(reading: Reading, indent: number, bracket: '}' | ']'): boolean {
  if (reading.text[reading.at] !== bracket) {
    reading.at += 1
    flowSpace(reading, indent)
  }
  if (reading.text[reading.at] !== bracket) return false
  reading.at += 1
  return true
}

/** A value within brackets, up to the comma or the bracket after it. */
function flowValue(reading: Reading, indent: number, path: string, depth: number, bracket: '}' | ']'): Node {
  const node = flowNode(reading, indent, path, depth) ?? scalar(reading, path, FLOW_TEXT)
  flowSpace(reading, indent)
  const next = reading.text[reading.at]
  if (next !== ',' && next !== bracket) throw NOT_PLAIN
  // A number with a comma in it is reported.
  if (next === ',' && typeof node.value === 'number' && /[0-9]/.test(reading.text[reading.at + 1] ?? ''))
    throw NOT_PLAIN
  return node
}

/**
 * Passes spaces, line breaks and comments within brackets, whose lines are deeper than the block around them. A comment at
 * the edge, after a value in braces, is a fault for the library.
 */
function flowSpace(reading: Reading, indent: number): void {
  const { text } = reading
  take(reading, SPACE)
  const before = text[reading.at - 1]
  if (text[reading.at] === '#' && before === ' ') reading.at = lineEndOf(text, reading.at)
  if (text[reading.at] !== '\n') return
  reading.at += 1
  if (text[reading.at] === '#') throw NOT_PLAIN
  nextLine(reading)
  if (reading.column <= indent) throw NOT_PLAIN
}

function readKey(reading: Reading, path: string): { name: string; key: Place } {
  const start = reading.at
  const [, plain, double, single] = take(reading, KEY)
  const name = plain ?? double ?? single ?? ''
  if (reading.at - start > MAX_KEY || (plain !== undefined && plainValue(plain) !== plain)) throw NOT_PLAIN
  return { name, key: { source: reading.source, path: childPath(path, name), start, end: reading.at - 1 } }
}

function quoted(reading: Reading, path: string): Node {
  const { source, at: start } = reading
  const [, double, single] = take(reading, QUOTED)
  return { source, path, start, end: reading.at, value: double ?? single ?? '' }
}

/** A text, number or word without quotes. */
function scalar(reading: Reading, path: string, pattern: RegExp): Node {
  const { source, at: start } = reading
  const [line] = take(reading, pattern)
  const comment = line.indexOf(' #')
  let length = comment < 0 ? line.length : comment
  while (line[length - 1] === ' ') length -= 1
  const text = line.slice(0, length)
  // A colon makes it a key, in brackets also before a bracket.
  if (text.endsWith(':') || text.includes(': ')) throw NOT_PLAIN
  reading.at = start + length
  const value = plainValue(text)
  if (value === undefined) throw NOT_PLAIN
  return { source, path, start, end: reading.at, value }
}

function deeper(depth: number): number {
  if (depth >= LIMITS.depth) throw NOT_PLAIN
  return depth + 1
}
