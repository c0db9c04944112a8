import type { Json } from '../base/json.ts'
import { controlCharacters, decodeText } from './encoding.ts'
import { LIMITS } from './limits.ts'
import { entriesOf, memberOf, type Node, textOf } from './node.ts'
import type { Report } from './report.ts'
import { closest } from './suggest.ts'

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
    const second = entriesOf(node).findLast(({ name }) => name === 'file' || name === 'values')
    report.add('GATE1108', second?.key ?? node, 'A list has either a file or values.')
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

function readFile(node: Node, path: string, files: ListFiles, report: Report): readonly string[] | undefined {
  // That it is empty is reported by the shape.
  if (path === '') return undefined
  if (!isInsidePath(path)) {
    const forward = path.replaceAll('\\', '/')
    const isWindows = forward !== path && isInsidePath(forward)
    const message = isWindows
      ? `The path ${JSON.stringify(path)} has backslashes; folders are separated with /.`
      : `The path ${JSON.stringify(path)} leaves the folder of the tenant; it must be relative, such as lists/names.txt.`
    report.add('GATE1213', node, message, isWindows ? forward : undefined)
    return undefined
  }
  const bytes = files.get(path)
  if (bytes === undefined || 'problem' in bytes) {
    const message = `The list file ${JSON.stringify(path)} ${bytes?.problem ?? 'does not exist'}.`
    const meant = report.search(present(files), (known) => closest(path, known))
    report.add('GATE1213', node, message, meant)
    return undefined
  }
  return readLines(node, bytes, report)
}

function present(files: ListFiles): string[] {
  return [...files].flatMap(([path, bytes]) => ('problem' in bytes ? [] : [path]))
}

/** One value a line, trimmed; empty lines and those that begin with `#` do not count. */
function readLines(node: Node, bytes: Uint8Array, report: Report): readonly string[] | undefined {
  const { text, fault } = decodeText(bytes)
  if (fault !== undefined) {
    const place = fault.place === undefined ? '' : ` (line ${fault.place.line}, column ${fault.place.column})`
    report.add('GATE1313', node, `The list file is not UTF-8 text${place}: ${fault.reason}.`)
    return undefined
  }
  const [control] = controlCharacters(text, 1)
  if (control !== undefined) {
    const line = text.slice(0, control).split('\n').length
    report.add('GATE1313', node, `The list file has a control character in line ${line}; it is no plain text.`)
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
