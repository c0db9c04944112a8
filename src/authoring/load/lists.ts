import type { Json } from '../../base/json.ts'
import type { Report } from '../diagnostics/report.ts'
import { listLinesOf, reportListLines, reportListValues } from '../lint/list-lines.ts'
import { reportJoined } from '../lint/odd-constants.ts'
import { closest } from '../suggest/closest.ts'
import { controlCharacters, decodeText } from '../yaml/encoding.ts'
import { type Entry, entriesOf, itemsOf, memberOf, type Node, type Source, sourceOf, textOf } from '../yaml/node.ts'
import { insidePath, type ListFiles, type ListProblem, type PolicySource, shownPath } from './files.ts'
import { LIMITS } from './limits.ts'

/** Values of the declared lists. An unreadable list counts as declared, so that its users are not at fault too. */
export function readLists(
  declared: readonly Entry[],
  from: Pick<PolicySource, 'tenant' | 'folder' | 'lists'>,
  report: Report,
): ReadLists {
  const lists = new Map<string, readonly Json[]>()
  const sources = new Map<string, Source>()
  const named = new Set(declared.flatMap(({ value }) => insidePath(textOf(memberOf(value, 'file')) ?? '') ?? []))
  const reading: Reading = { from, files: from.lists, named, report }
  for (const { name, value } of declared) {
    const { values = [], source } = readList(value, reading) ?? {}
    if (lists.has(name)) continue
    lists.set(name, values)
    if (source !== undefined) sources.set(name, source)
  }
  return { lists, sources }
}

interface ReadLists {
  /** Values by the name of the list. */
  lists: Map<string, readonly Json[]>
  /** The texts of lists that are kept in files, by the name of the list. */
  sources: Map<string, Source>
}

interface Reading {
  readonly from: Pick<PolicySource, 'tenant' | 'folder'>
  readonly files: ListFiles
  /** Files that lists name, by insidePath. */
  readonly named: ReadonlySet<string>
  readonly report: Report
}

interface ReadList {
  values: readonly Json[]
  /** The text of its file. */
  source?: Source
}

/** Values of a declared list; undefined, and reported, when none can be read. */
function readList(node: Node, reading: Reading): ReadList | undefined {
  const { report } = reading
  const file = memberOf(node, 'file')
  const values = memberOf(node, 'values')
  if (node.entries === undefined) return undefined
  if ((file === undefined) === (values === undefined)) {
    const second = entriesOf(node).findLast(({ name }) => name === 'file' || name === 'values')
    return report.add('GATE1108', second?.key ?? node, 'A list has either a file or values.')
  }
  if (values !== undefined) {
    if (!Array.isArray(values.value)) return undefined
    if (values.value.length === 0) report.add('GATE2009', values, 'The list has no values.')
    reportListValues(itemsOf(values), report)
    reportJoined(values, report)
    return { values: values.value }
  }
  const path = textOf(file)
  // The shape reports an empty path.
  return file === undefined || path === undefined || path === '' ? undefined : readFile(file, path, reading)
}

function readFile(node: Node, path: string, reading: Reading): ReadList | undefined {
  const { files, report } = reading
  const content = files.get(path)
  if (insidePath(path) === undefined) {
    const forward = path.replaceAll('\\', '/')
    const isWindows = forward !== path && insidePath(forward) !== undefined
    const suggestion = isWindows ? forward : meantFile(path, content, reading)
    return report.add('GATE1213', node, `The path ${JSON.stringify(path)} ${outsideFault(path)}.`, suggestion)
  }
  if (content instanceof Uint8Array) return readLines(node, path, content, reading)
  const message = `The list file ${JSON.stringify(path)} ${content?.problem ?? 'does not exist'}.`
  return report.add('GATE1213', node, message, meantFile(path, content, reading))
}

/** The reason why a path is not inside the folder, as a predicate. */
function outsideFault(path: string): string {
  const example = 'such as lists/names.txt'
  if (/^[A-Za-z][A-Za-z0-9+.-]+:\/\//.test(path))
    return `is an address, and nothing is fetched; write that of a file, ${example}`
  if (path.includes('\0')) return `has a character that no path has; write one ${example}`
  if (/^\/|^[A-Za-z]:/.test(path)) return `is absolute; it begins at the folder of the tenant, ${example}`
  if (path.includes('\\')) return 'has backslashes; folders are separated with /'
  return `leaves the folder of the tenant; it begins there, ${example}`
}

/** The file that was probably meant; not one that another list names, unless only capitals differ. */
function meantFile(
  path: string,
  content: Uint8Array | ListProblem | undefined,
  { files, named, report }: Reading,
): string | undefined {
  if (content instanceof Uint8Array) return undefined
  // Files that came without a folder are the candidates where no folder was searched.
  const present = content === undefined ? files.keys() : (content.present ?? [])
  return report.search(present, (known) =>
    nearestPath(
      path,
      known.filter((one) => !named.has(one) || one.toLowerCase() === path.toLowerCase()),
    ),
  )
}

/** The same path from another folder, or a file with nearly the same name, endings aside. */
function nearestPath(path: string, known: readonly string[]): string | undefined {
  const [same] = known.filter((one) => path.endsWith(`/${one}`)).sort((a, b) => b.length - a.length)
  if (same !== undefined) return same
  const name = closest(nameOf(path), known.map(nameOf))
  const alike = known.filter((one) => nameOf(one) === name)
  return alike.length > 1 ? closest(path, alike) : alike[0]
}

/** The name of a file without its folder and ending. */
function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]*$/, '')
}

function readLines(node: Node, path: string, bytes: Uint8Array, { from, report }: Reading): ReadList | undefined {
  const { text, fault } = decodeText(bytes)
  if (fault !== undefined) {
    const place = fault.place === undefined ? '' : ` (line ${fault.place.line}, column ${fault.place.column})`
    return report.add('GATE1313', node, `The list file is not UTF-8 text${place}: ${fault.reason}.`)
  }
  const [control] = controlCharacters(text, 1)
  if (control !== undefined) {
    const line = text.slice(0, control).split('\n').length
    return report.add('GATE1313', node, `The list file has a control character in line ${line}; it is not plain text.`)
  }
  const source = sourceOf(shownPath(from, insidePath(path)), text)
  if (source.lineStarts.length - (text.endsWith('\n') ? 1 : 0) > LIMITS.listLines)
    return report.add('GATE1313', node, `The list file has more than ${LIMITS.listLines} lines.`)
  const lines = listLinesOf(source)
  if (lines.length === 0) report.add('GATE2009', node, 'The list file has no values.')
  reportListLines(source, lines, report)
  return { values: lines.map(({ value }) => value), source }
}
