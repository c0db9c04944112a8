import type { Json } from '../base/json.ts'
import { LIMITS } from './limits.ts'
import { memberOf, type Node, textOf } from './node.ts'
import type { Report } from './report.ts'
import { decode } from './source.ts'

/** The bytes of list files by path as written, or why they cannot be had. */
export type ListFiles = ReadonlyMap<string, Uint8Array | { problem: string }>

/** True for a path that stays inside the folder by its text alone; links are the reader's concern. */
export function isInsidePath(path: string): boolean {
  if (path.startsWith('/') || path.includes('\\') || path.includes('\0') || /^[A-Za-z]:/.test(path)) return false
  return !path.split('/').some((part) => part === '..' || part === '')
}

/** The values of a declared list; undefined, and reported, when it has none that can be read. */
export function readList(node: Node, files: ListFiles, report: Report): readonly Json[] | undefined {
  const file = memberOf(node, 'file')
  const values = memberOf(node, 'values')
  if (node.entries === undefined) return undefined
  if ((file === undefined) === (values === undefined)) {
    const place = file === undefined || values === undefined ? node : later(file, values)
    report.add('GATE1108', place, 'A list has either a file or values.')
    return undefined
  }
  if (values !== undefined) {
    if (!Array.isArray(values.value)) return undefined
    if (values.value.length === 0) report.add('GATE2009', values, 'The list has no values.')
    return values.value
  }
  const path = textOf(file)
  return file === undefined || path === undefined ? undefined : readFile(file, path, files, report)
}

function later(a: Node, b: Node): Node {
  return a.start > b.start ? a : b
}

function readFile(node: Node, path: string, files: ListFiles, report: Report): readonly string[] | undefined {
  if (!isInsidePath(path)) {
    report.add('GATE1213', node, `The path ${JSON.stringify(path)} leaves the folder of the tenant.`)
    return undefined
  }
  const bytes = files.get(path)
  if (bytes === undefined || 'problem' in bytes) {
    report.add('GATE1213', node, `The list file ${JSON.stringify(path)} ${bytes?.problem ?? 'does not exist'}.`)
    return undefined
  }
  return readLines(node, bytes, report)
}

/** One value a line, trimmed; empty lines and those that begin with `#` do not count. */
function readLines(node: Node, bytes: Uint8Array, report: Report): readonly string[] | undefined {
  const text = decode(bytes)
  if (text === undefined) {
    report.add('GATE1313', node, 'The list file is not UTF-8 text.')
    return undefined
  }
  const lines = text.split('\n')
  if (lines.length - (text.endsWith('\n') ? 1 : 0) > LIMITS.listLines) {
    report.add('GATE1313', node, `The list file has more than ${LIMITS.listLines} lines.`)
    return undefined
  }
  const values = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  if (values.length === 0) report.add('GATE2009', node, 'The list file has no values.')
  return values
}
