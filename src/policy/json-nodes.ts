import type { Json, JsonObject } from '../base/json.ts'
import { childPath, type Entry, type Node, RESERVED_KEYS, type Source } from './node.ts'
import type { Report } from './report.ts'

// The text has passed the strict parser, so these always match where they are tried.
const SPACE = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\]|\\.)*"/y
const SCALAR = /[-+.0-9a-zA-Z]+/y

/**
 * The nodes of a JSON text that base/json.ts has accepted: this only finds out where everything
 * stands, and reports reserved keys. (The YAML parser could read it too, at ten times the cost.)
 */
export function jsonNodes(source: Source, report: Report): Node {
  return readValue({ source, report }, skip(source, 0), '$')
}

interface Reading {
  source: Source
  report: Report
}

function readValue(reading: Reading, start: number, path: string): Node {
  const { source } = reading
  const first = source.text[start]
  if (first === '{') return readObject(reading, start, path)
  if (first === '[') return readArray(reading, start, path)
  const end = match(first === '"' ? STRING : SCALAR, source, start)
  const value: Json = JSON.parse(source.text.slice(start, end))
  return { source, path, start, end, value, entries: undefined, items: undefined }
}

function readObject(reading: Reading, start: number, path: string): Node {
  const { source, report } = reading
  const entries = new Map<string, Entry>()
  const value: JsonObject = Object.create(null)
  let at = skip(source, start + 1)
  while (source.text[at] !== '}') {
    const keyEnd = match(STRING, source, at)
    const name: string = JSON.parse(source.text.slice(at, keyEnd))
    const key = { source, path: childPath(path, name), start: at, end: keyEnd }
    const colon = skip(source, keyEnd)
    const member = readValue(reading, skip(source, colon + 1), key.path)
    if (RESERVED_KEYS.has(name)) report.add('GATE1012', key, `The key ${name} is reserved.`)
    else {
      entries.set(name, { name, key, value: member })
      value[name] = member.value
    }
    at = next(source, member.end)
  }
  return { source, path, start, end: at + 1, value, entries, items: undefined }
}

function readArray(reading: Reading, start: number, path: string): Node {
  const { source } = reading
  const items: Node[] = []
  let at = skip(source, start + 1)
  while (source.text[at] !== ']') {
    const item = readValue(reading, at, childPath(path, items.length))
    items.push(item)
    at = next(source, item.end)
  }
  const value = items.map((item) => item.value)
  return { source, path, start, end: at + 1, value, entries: undefined, items }
}

/** Where the next member begins, or the closing bracket stands. */
function next(source: Source, end: number): number {
  const at = skip(source, end)
  return source.text[at] === ',' ? skip(source, at + 1) : at
}

function skip(source: Source, at: number): number {
  return match(SPACE, source, at)
}

function match(pattern: RegExp, source: Source, at: number): number {
  pattern.lastIndex = at
  pattern.test(source.text)
  return pattern.lastIndex
}
