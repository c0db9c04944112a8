import type { Report } from '../diagnostics/report.ts'
import { PolicyDocument } from '../shapes/document.ts'
import { PolicyTestFile } from '../test-files/shapes.ts'
import { type Entry, entriesOf, type Node } from '../yaml/node.ts'
import { withEntries } from '../yaml/repeated-keys.ts'

interface Document {
  readonly name: string
  readonly root: Node
}

/** Documents of a folder by their contents. */
export interface Sorted {
  readonly policies: readonly Document[]
  readonly tests: readonly Document[]
  /** True when a test file holds policies, which are not read. */
  readonly isPartial: boolean
}

/**
 * Reports tests in policy files and policies in test files, each as one fault. A document of only the other kind is
 * read as that kind, or not at all; in a mixed one, misplaced entries are left out.
 */
export function sorted(policies: readonly Document[], tests: readonly Document[], report: Report): Sorted {
  const misnamed = policies.filter(({ root }) => holdsTests(root) && sectionsIn(root).length === 0)
  for (const { name, root } of misnamed) {
    const message = `Tests are read from files called *.test.yaml; call this one ${testName(name)}.`
    for (const { key } of testsIn(root)) report.add('GATE1101', key, message)
  }
  const unnamed = tests.filter(({ root }) => !holdsTests(root) && sectionsIn(root).length > 0)
  for (const { root } of unnamed) {
    const [first] = sectionsIn(root)
    const message = 'A file called *.test.yaml holds tests; give this one another name, so that its policies are read.'
    if (first !== undefined) report.add('GATE1501', first.key, message)
  }
  return {
    policies: policies
      .filter((file) => !misnamed.includes(file))
      .map((file) =>
        without(file, testsIn(file.root), 'GATE1101', 'belongs in a file of tests, called *.test.yaml', report),
      ),
    tests: [...tests.filter((file) => !unnamed.includes(file)), ...misnamed].map((file) =>
      without(
        file,
        sectionsIn(file.root),
        'GATE1501',
        'belongs in a policy file, which is not called *.test.yaml',
        report,
      ),
    ),
    isPartial: unnamed.length > 0,
  }
}

function testsIn(root: Node): Entry[] {
  return entriesOf(root).filter(({ name }) => name === 'tests')
}

function holdsTests(root: Node): boolean {
  return testsIn(root).length > 0
}

/** Entries that only policies have. */
function sectionsIn(root: Node): Entry[] {
  return entriesOf(root).filter(
    ({ name }) => Object.hasOwn(PolicyDocument.properties, name) && !Object.hasOwn(PolicyTestFile.properties, name),
  )
}

function without(
  { name, root }: Document,
  entries: readonly Entry[],
  code: 'GATE1101' | 'GATE1501',
  predicate: string,
  report: Report,
): Document {
  if (root.entries === undefined || entries.length === 0) return { name, root }
  for (const { key, name: section } of entries) report.add(code, key, `The key ${section} ${predicate}.`)
  const left = entriesOf(root).filter((entry) => !entries.includes(entry))
  return { name, root: withEntries(root, left) }
}

/** `main.test.yaml` for `main_test.yaml`, `main.tests.yaml` and `test.yaml`. */
function testName(name: string): string {
  const [, stem = '', ending = ''] = /^(.*?)[._-]?(?:tests?)?(\.[^.]+)$/i.exec(name) ?? []
  return `${stem === '' ? 'main' : stem}.test${ending}`
}
