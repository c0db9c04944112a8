import type { Report } from '../diagnostics/report.ts'
import { LIMITS } from '../load/limits.ts'
import { type Reading, readScalar, refuse, STOPPED, skipSpace, stop } from './json-scalars.ts'
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
    const rest = skipSpace(reading)
    if (rest === ']' || rest === '}') refuse(reading, 'There is no open bracket that this closes.')
    else if (rest !== undefined) refuse(reading, 'Nothing can follow the end of the document; a file holds one.')
    return root
  } catch (error) {
    if (error !== STOPPED) throw error
    return undefined
  }
}

function readValue(reading: Reading, path: string, depth: number): Node {
  const first = skipSpace(reading)
  if (first === '{' || first === '[') {
    if (depth < LIMITS.depth) return first === '{' ? readObject(reading, path, depth) : readArray(reading, path, depth)
    reading.report.add('GATE1014', placeAt(reading.source, reading.at, reading.at + 1), DEEP)
    throw STOPPED
  }
  if (first === undefined) return stop(reading, 'The document ends before its value.')
  return /[,:\]}]/.test(first) ? missingValue(reading, path) : readScalar(reading, path)
}

function missingValue(reading: Reading, path: string): Node {
  const { source, report, at } = reading
  const place = { source, path, start: at, end: at + 1 }
  report.add('GATE1004', place, 'A value is missing before this.')
  if (source.text[at] === ':') throw STOPPED
  return { ...place, value: null }
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
  return { source, path, start, end: reading.at, ...mappingOf(entries, report) }
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
  return { source, path, start, end: reading.at, value: items.map(({ value }) => value), items }
}

/** True at the closing bracket, which it passes. Commas with nothing before them are reported and passed. */
function closes(reading: Reading, start: number, bracket: '}' | ']', filled: boolean): boolean {
  for (;;) {
    const next = skipSpace(reading)
    if (next === undefined) return stop(reading, 'This bracket is never closed.', start)
    if (next !== bracket && (next === '}' || next === ']'))
      return stop(reading, `This bracket is never closed: ${next} does not close it.`, start)
    if (next !== bracket && next !== ',') return false
    if (next === ',') refuse(reading, filled ? 'One comma is too many here.' : 'Nothing stands before this comma.')
    reading.at += 1
    if (next === bracket) return true
  }
}

function readKey(reading: Reading, path: string): { name: string; key: Place } {
  if (!/["'“”‘’„A-Za-z_$]/.test(reading.source.text[reading.at] ?? ''))
    return stop(reading, 'A key in double quotes must stand here.')
  const { start, end, value } = readScalar(reading, path, true)
  const name = String(value)
  return { name, key: { source: reading.source, path: childPath(path, name), start, end } }
}

function readColon(reading: Reading): void {
  const next = skipSpace(reading)
  if (next === ':') reading.at += 1
  else if (next === '=') {
    refuse(reading, 'A colon stands between key and value.', ':')
    reading.at += reading.source.text[reading.at + 1] === '>' ? 2 : 1
  } else if (next !== undefined && /["'{[\dA-Za-z-]/.test(next)) refuse(reading, 'A colon is missing before this.')
  else stop(reading, 'A colon and a value must follow the key.')
}

function readComma(reading: Reading, bracket: '}' | ']'): void {
  const next = skipSpace(reading)
  if (next === undefined || next === '}' || next === ']') return
  if (next === ',' || next === ';') {
    if (next === ';') refuse(reading, 'A comma stands between members.', ',')
    const comma = reading.at
    reading.at += 1
    if (skipSpace(reading) !== bracket) return
    refuse(reading, 'JSON has no comma before a closing bracket; remove it.', undefined, comma)
  } else if (/["'“”‘’{[\dA-Za-z_$-]/.test(next)) refuse(reading, 'A comma is missing before this.')
  else stop(reading, 'A comma or the closing bracket must stand here.')
}
