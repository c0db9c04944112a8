import { createReport, type Report } from '../diagnostics/report.ts'
import { PolicyDocument } from '../shapes/document.ts'
import { withSchemasUnderContext } from '../suggest/bare-schemas.ts'
import { repairKeys } from '../suggest/key-repair.ts'
import { sorted } from '../suggest/misplaced.ts'
import { withSortedItems } from '../suggest/mixed-items.ts'
import { withFlatFacts } from '../suggest/nested-facts.ts'
import { withFlatSections } from '../suggest/nested-sections.ts'
import { entriesOf, memberOf, type Node, placeAt, sourceOf, textOf } from '../yaml/node.ts'
import { readDocument } from '../yaml/read-document.ts'
import { withLastKeys } from '../yaml/repeated-keys.ts'
import {
  isNamedAsPolicy,
  isPolicyFile,
  isTestFile,
  mentions,
  mentionsLists,
  type PolicySource,
  shownPath,
} from './files.ts'

/** A file that was read as a document. */
export interface PolicyFile {
  readonly name: string
  readonly root: Node
}

export interface ReadFiles {
  readonly policies: readonly PolicyFile[]
  readonly tests: readonly PolicyFile[]
  /** The policies again, with the last of repeated keys in place of the first; none when no key is repeated. */
  readonly again: readonly PolicyFile[]
  /** True when a policy file, or a part of one, could not be read. */
  readonly partial: boolean
}

/** Reads all documents in the order of their names, which is the order of the rules. */
export function readFiles(source: PolicySource, report: Report): ReadFiles {
  const names = source.files.map(({ name }) => name).filter(isPolicyFile)
  const read = (wanted: (name: string) => boolean): PolicyFile[] =>
    source.files
      .filter(({ name }) => wanted(name))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap(({ name, bytes }) => {
        const root = readDocument(shownPath(source, name), bytes, report)
        return root === undefined ? [] : [{ name, root }]
      })
  const repaired = ({ name, root }: PolicyFile) => ({
    name,
    root: repairKeys(withPlainForm(root, report), PolicyDocument, report),
  })
  const documents = read(isPolicyFile)
  const { policies: written, tests, isPartial } = sorted(documents, read(isTestFile), report)
  const policies = written.map(repaired)
  const last = written.map(({ root }) => withLastKeys(root))
  const isRepeated = last.some((root) => root !== undefined)
  const again = isRepeated ? written.map(({ name, root }, i) => repaired({ name, root: last[i] ?? root })) : []
  const { outside = [] } = source
  reportOutside(source, report)
  const others = source.files.map(({ name }) => name).filter((name) => !isPolicyFile(name) && !isTestFile(name))
  const ignored = [...source.ignored, ...others]
  const misnamed = ignored.filter(isNamedAsPolicy)
  if (names.length + outside.length + misnamed.length === 0) {
    const folder = placeAt(sourceOf(shownPath(source), ''), 0)
    report.add('GATE1018', folder, 'The folder has no policy file (*.yaml, *.yml or *.json).')
  }
  reportIgnored(source, ignored, documents, report)
  const partial =
    isPartial ||
    outside.length > 0 ||
    misnamed.length > 0 ||
    documents.length < names.length ||
    written.some(({ root }) => root.source.isPartial)
  return { policies, tests, again, partial }
}

/** The document with each part at the place where it is read. */
function withPlainForm(root: Node, report: Report): Node {
  const sorted = withSortedItems(withFlatSections(root, PolicyDocument, report), report)
  return withSchemasUnderContext(withFlatFacts(sorted, report), report)
}

function reportOutside(source: PolicySource, report: Report): void {
  for (const name of source.outside ?? []) {
    const place = placeAt(sourceOf(shownPath(source, name), ''), 0)
    const from = name === '' ? 'policies folder' : "tenant's folder"
    report.add('GATE1022', place, `The link leads out of the ${from}, so nothing of it is read.`)
  }
}

function reportIgnored(
  source: PolicySource,
  ignored: readonly string[],
  read: readonly PolicyFile[],
  report: Report,
): void {
  const unread = source.files.filter(({ name }) => isPolicyFile(name) && !read.some((file) => file.name === name))
  for (const name of ignored) {
    const place = placeAt(sourceOf(shownPath(source, name), ''), 0)
    if (isNamedAsPolicy(name)) {
      // Docker makes an empty folder of a missing mount: as a warning, a deny would be gone unnoticed.
      const fault = isPolicyFile(name) || isTestFile(name) ? 'It is not a regular file' : 'Its ending has capitals'
      report.add('GATE1023', place, `${fault}, so nothing of it is read.`)
      continue
    }
    // An unreadable file may name it as a list.
    if (unread.some(({ bytes }) => mentions(bytes, name))) continue
    report.add('GATE2001', place, 'Only *.yaml, *.yml and *.json files are read, and the files that lists name.')
  }
}

/** List paths that the policies name, so that a caller can read them first. Reads broken files as far as possible. */
export function listFilesOf(files: PolicySource['files']): string[] {
  const paths = new Set<string>()
  for (const { name, bytes } of files) {
    if (!mentionsLists({ name, bytes })) continue
    const report = createReport()
    const read = readDocument(name, bytes, report)
    const root = read && repairKeys(read, PolicyDocument, report)
    for (const { value } of entriesOf(memberOf(root, 'lists'))) {
      const path = textOf(memberOf(value, 'file'))
      if (path !== undefined) paths.add(path)
    }
  }
  return [...paths].sort()
}
