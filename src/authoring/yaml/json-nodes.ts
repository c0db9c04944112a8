import type { Json } from '../../base/json.ts'
import type { Report } from '../diagnostics/report.ts'
import { LIMITS } from '../load/limits.ts'
import { Verbatim } from '../suggest/written.ts'
import { type Reading, readScalar, STOPPED, skipSpace } from './json-scalars.ts'
import { childPath, type Entry, type Node, type Place, placeAt, type Source } from './node.ts'
import { mappingOf } from './repeated-keys.ts'

const DEEP = `Nesting deeper than ${LIMITS.depth} levels; give a part of it a name under conditions.`

/**
 * Parses a JSON text to nodes, as strictly as base/json.ts. Other text is reported and read as it was probably meant,
 * so that all faults are found at once; undefined where that is unknown.
 */
export function jsonNodes(source: Source, report: Report): Node | undefined {
  const reading: Reading = { source, report, at: 0 }
  try {
    const root = readValue(reading, '$', 0)
    skipSpace(reading)
    if (reading.at < source.text.length) reportRest(reading)
    return root
  } catch (error) {
    if (error !== STOPPED) throw error
    return undefined
  }
}

function reportRest({ source, report, at }: Reading): void {
  const closes = /[\]}]/.test(source.text[at] ?? '')
  const sentence = closes
    ? 'There is no open bracket that this closes.'
    : 'Nothing can follow the end of the document; a file holds one.'
  report.add('GATE1004', placeAt(source, at, at + 1), sentence)
}

/** Reports a fault after which nothing is certain, and stops. */
function stop({ source, report, at }: Reading, sentence: string, start = at): never {
  report.add('GATE1004', placeAt(source, start, start + 1), sentence)
  throw STOPPED
}

function readValue(reading: Reading, path: string, depth: number): Node {
  skipSpace(reading)
  const { source, at } = reading
  const first = source.text[at]
  if (first === '{' || first === '[') {
    if (depth < LIMITS.depth) return first === '{' ? readObject(reading, path, depth) : readArray(reading, path, depth)
    reading.report.add('GATE1014', placeAt(source, at, at + 1), DEEP)
    throw STOPPED
  }
  if (first === undefined) return stop(reading, 'The document ends before its value.')
  if (first === ',' || first === '}' || first === ']' || first === ':') return missingValue(reading, path)
  return readScalar(reading, path)
}

function missingValue(reading: Reading, path: string): Node {
  const { source, report, at } = reading
  const place = { source, path, start: at, end: at + 1 }
  report.add('GATE1004', place, 'A value is missing before this.')
  if (source.text[at] === ':') throw STOPPED
  return { ...place, value: null, entries: undefined, items: undefined }
}

function readObject(reading: Reading, path: string, depth: number): Node {
  const { source, report } = reading
  const start = reading.at
  const entries: Entry[] = []
  reading.at += 1
  while (!closes(reading, start, '}', entries.length > 0)) {
    const { name, key } = readKey(reading, path)
    readColon(reading)
    entries.push({ name, key, value: readValue(reading, key.path, depth + 1) })
    readComma(reading, '}')
  }
  return { source, path, start, end: reading.at, ...mappingOf(entries, report), items: undefined }
}

function readArray(reading: Reading, path: string, depth: number): Node {
  const { source } = reading
  const start = reading.at
  const items: Node[] = []
  reading.at += 1
  while (!closes(reading, start, ']', items.length > 0)) {
    items.push(readValue(reading, childPath(path, items.length), depth + 1))
    readComma(reading, ']')
  }
  const value: Json = items.map((item) => item.value)
  return { source, path, start, end: reading.at, value, entries: undefined, items }
}

/** True at the closing bracket, which it passes. Commas with nothing before them are reported and passed. */
function closes(reading: Reading, start: number, bracket: '}' | ']', filled: boolean): boolean {
  const { source, report } = reading
  for (;;) {
    skipSpace(reading)
    const next = source.text[reading.at]
    if (next === bracket) {
      reading.at += 1
      return true
    }
    if (next === undefined) return stop(reading, 'This bracket is never closed.', start)
    if (next === '}' || next === ']') {
      return stop(reading, `This bracket is never closed: ${next} does not close it.`, start)
    }
    if (next !== ',') return false
    const sentence = filled ? 'One comma is too many here.' : 'Nothing stands before this comma.'
    report.add('GATE1004', placeAt(source, reading.at, reading.at + 1), sentence)
    reading.at += 1
  }
}

function readKey(reading: Reading, path: string): { name: string; key: Place } {
  if (!/["'“”‘’„A-Za-z_$]/.test(reading.source.text[reading.at] ?? '')) {
    return stop(reading, 'A key in double quotes must stand here.')
  }
  const { start, end, value } = readScalar(reading, path, true)
  const name = String(value)
  return { name, key: { source: reading.source, path: childPath(path, name), start, end } }
}

function readColon(reading: Reading): void {
  skipSpace(reading)
  const { source, report, at } = reading
  const next = source.text[at]
  if (next === ':') reading.at += 1
  else if (next === '=') {
    report.add('GATE1004', placeAt(source, at, at + 1), 'A colon stands between key and value.', new Verbatim(':'))
    reading.at += source.text[at + 1] === '>' ? 2 : 1
  } else if (next !== undefined && /["'{[\dA-Za-z-]/.test(next)) {
    report.add('GATE1004', placeAt(source, at, at + 1), 'A colon is missing before this.')
  } else stop(reading, 'A colon and a value must follow the key.')
}

function readComma(reading: Reading, bracket: '}' | ']'): void {
  skipSpace(reading)
  const { source, report, at } = reading
  const next = source.text[at]
  if (next === undefined || next === '}' || next === ']') return
  if (next === ',' || next === ';') {
    const place = placeAt(source, at, at + 1)
    if (next === ';') report.add('GATE1004', place, 'A comma stands between members.', new Verbatim(','))
    reading.at += 1
    skipSpace(reading)
    if (source.text[reading.at] !== bracket) return
    report.add('GATE1004', place, 'JSON has no comma before a closing bracket; remove it.')
  } else if (/["'“”‘’{[\dA-Za-z_$-]/.test(next)) {
    report.add('GATE1004', placeAt(source, at, at + 1), 'A comma is missing before this.')
  } else stop(reading, 'A comma or the closing bracket must stand here.')
}
