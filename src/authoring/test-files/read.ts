import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { memo } from '../../base/memo.ts'
import { parseRfc3339 } from '../../base/time.ts'
import type { Report } from '../diagnostics/report.ts'
import { others, repeated } from '../load/declarations.ts'
import { LIMITS } from '../load/limits.ts'
import type { ReadFiles } from '../load/read-files.ts'
import { checkTenant, readDuration } from '../load/settings.ts'
import { shapeCheck } from '../shapes/check.ts'
import { repairKeys } from '../suggest/key-repair.ts'
import { withFlatSections } from '../suggest/nested-sections.ts'
import { timeIn, timeSentence } from '../suggest/time-constant.ts'
import { entriesOf, itemsOf, keyOf, memberOf, type Node, textOf } from '../yaml/node.ts'
import {
  type ByDimension,
  byDimension,
  casesIn,
  DEFAULT_AGENT,
  DEFAULT_NOW,
  DIMENSIONS,
  type Dimension,
  type Fixture,
  type PastAction,
  type PolicyTest,
  SECTIONS,
  type TestAgent,
} from './cases.ts'
import { type Asked, readExpectations } from './expectations.ts'
import {
  hasKnownKeys,
  type KnownNames,
  knownNames,
  readNames,
  reportMemberSlips,
  reportSlips,
  reportTwice,
} from './names.ts'
import { knownKeyCode, Matrix, PolicyTestFile, testReport } from './shapes.ts'

const checkShape = shapeCheck(PolicyTestFile, knownKeyCode)

const NONE: ReadonlyMap<string, unknown> = new Map()

/** Reads the tests of all files of a set. They are valid only when no error was reported. */
export function readTests(tenant: string, files: ReadFiles, report: Report): PolicyTest[] {
  const known = knownNames(files)
  const tests = files.tests.flatMap(({ root }) => readTestFile(root, tenant, known, report))
  reportTooMany(tests, report)
  return tests
}

function reportTooMany(tests: readonly PolicyTest[], report: Report): void {
  let cases = 0
  for (const test of tests) {
    cases += casesIn(test)
    if (cases <= LIMITS.casesPerSet) continue
    const message = `The tests of the set make more than ${LIMITS.casesPerSet} cases; ask fewer combinations.`
    report.add('GATE1509', test.place, message)
    return
  }
}

/** State shared by the tests of one file. */
interface TestFile {
  readonly root: Node
  readonly known: KnownNames
  /** Fixtures that some test uses. */
  readonly used: ByDimension<Set<string>>
  /** Reads the actions under a name of histories. */
  readonly historyOf: (node: Node | undefined) => readonly PastAction[]
  readonly report: Report
}

function readTestFile(written: Node, tenant: string, known: KnownNames, report: Report): PolicyTest[] {
  const asTests = testReport(report)
  const root = repairKeys(withFlatSections(written, PolicyTestFile, asTests), PolicyTestFile, asTests)
  checkShape(root, report)
  checkTenant(root, tenant, report)
  const used = byDimension(() => new Set<string>())
  const historyOf = memo((node: Node | undefined) => readHistory(node, file))
  const file: TestFile = { root, known, used, historyOf, report }
  // Reads also the histories that no test uses.
  for (const { value } of entriesOf(memberOf(root, 'histories'))) {
    historyOf(value)
    reportSlips(
      itemsOf(value).flatMap((item) => memberOf(item, 'action') ?? []),
      known,
      report,
    )
  }
  const nowMs = readTime(memberOf(root, 'now'), report)
  const tests = itemsOf(memberOf(root, 'tests')).map((node) => readTest(node, nowMs, file))
  reportSameNames(tests, report)
  reportUnused(file)
  for (const part of ['context', 'plan'] as const) {
    for (const { name, value } of entriesOf(memberOf(root, SECTIONS[part])))
      if (!knowsFaults(part, name, tests)) reportMemberSlips(value, part, known, report)
  }
  return tests
}

function readTest(node: Node, fileNowMs: number | undefined, file: TestFile): PolicyTest {
  const { root, report } = file
  const matrix = memberOf(node, 'matrix')
  const actions = itemsOf(memberOf(matrix, 'actions'))
  reportTwice(actions, report)
  const name = memberOf(node, 'name')
  const dimensions = {
    actions: actions.flatMap((item) => textOf(item) ?? []),
    contexts: readDimension('context', matrix, file, contextOf),
    plans: readDimension('plan', matrix, file, planOf),
    agents: readDimension('agent', matrix, file, agentOf),
    histories: readDimension('history', matrix, file, file.historyOf),
  }
  const expectations = readExpectations(memberOf(node, 'expect'), {
    root,
    asked: hasKnownKeys(root, PolicyTestFile) && hasKnownKeys(matrix, Matrix) ? askedBy(dimensions) : undefined,
    known: file.known,
    report,
  })
  // A test that says what decides cannot pass for another reason.
  if (expectations.some(({ wanted }) => wanted.rule === undefined && wanted.decidedBy === undefined))
    reportSlips(actions, file.known, report)
  return {
    name: textOf(name) ?? '',
    skip: textOf(memberOf(node, 'skip')),
    nowMs: readTime(memberOf(node, 'now'), report) ?? fileNowMs ?? Date.parse(DEFAULT_NOW),
    ...dimensions,
    expectations,
    place: name ?? node,
    expectPlace: keyOf(node, 'expect') ?? node,
  }
}

/** True if all that the tests expect of a fixture says that it does not fit, or cannot be evaluated. */
function knowsFaults(part: 'context' | 'plan', name: string, tests: readonly PolicyTest[]): boolean {
  const asking = tests.filter((test) => test[SECTIONS[part]].some((fixture) => fixture.name === name))
  const wanted = asking
    .flatMap(({ expectations }) => expectations)
    .filter(({ selector }) => selector[part] === undefined || selector[part] === name)
  const isKnown = ({ wanted: { decidedBy, unevaluable } }: (typeof wanted)[number]): boolean =>
    decidedBy !== undefined || unevaluable !== undefined
  return wanted.length > 0 && wanted.every(isKnown)
}

function askedBy(dimensions: Pick<PolicyTest, 'actions' | (typeof SECTIONS)[Dimension]>): Asked {
  const namesOf = (fixtures: readonly Fixture<unknown>[]) => new Set(fixtures.flatMap(({ name }) => name ?? []))
  return { actions: dimensions.actions, ...byDimension((dimension) => namesOf(dimensions[SECTIONS[dimension]])) }
}

/** Reads the value of a fixture; without one, the default. */
type ReadValue<T> = (node: Node | undefined) => T

/** Values of one dimension, or the default where the matrix leaves it out. */
function readDimension<T>(
  dimension: Dimension,
  matrix: Node | undefined,
  file: TestFile,
  readValue: ReadValue<T>,
): Fixture<T>[] {
  const nodes = itemsOf(memberOf(matrix, SECTIONS[dimension]))
  reportTwice(nodes, file.report)
  const fixtures = fixturesOf(dimension, nodes, file, readValue)
  return fixtures.length === 0 ? [{ name: undefined, value: readValue(undefined) }] : fixtures
}

/** Fixtures that nodes name. */
function fixturesOf<T>(
  dimension: Dimension,
  nodes: readonly Node[],
  { root, used, report }: TestFile,
  readValue: ReadValue<T>,
): Fixture<T>[] {
  const section = SECTIONS[dimension]
  const fixtures = memberOf(root, section)
  // Fixtures that could not be read may have any name.
  const isRead = hasKnownKeys(root, PolicyTestFile) && !root.source.isPartial
  const declared = isRead ? (fixtures === undefined ? NONE : fixtures.entries) : undefined
  return readNames(nodes, declared, `under ${section}`, report).map((name) => {
    used[dimension].add(name)
    return { name, value: readValue(memberOf(fixtures, name)) }
  })
}

function readHistory(node: Node | undefined, file: TestFile): PastAction[] {
  return itemsOf(node).flatMap((item) => {
    const named = <T>(dimension: Dimension, readValue: ReadValue<T>): T => {
      const name = memberOf(item, dimension)
      const [first] = name === undefined ? [] : fixturesOf(dimension, [name], file, readValue)
      return first === undefined ? readValue(undefined) : first.value
    }
    const past = {
      context: named('context', contextOf),
      plan: named('plan', planOf),
      agent: named('agent', agentOf),
    }
    const action = textOf(memberOf(item, 'action'))
    const ago = memberOf(item, 'ago')
    const agoMs = ago && readDuration(ago, file.report)
    return action === undefined || agoMs === undefined ? [] : [{ action, ...past, agoMs }]
  })
}

function contextOf(node: Node | undefined): JsonObject {
  return isJsonObject(node?.value) ? node.value : {}
}

function planOf(node: Node | undefined): JsonObject | undefined {
  return node && contextOf(node)
}

function agentOf(node: Node | undefined): TestAgent {
  const isTest = memberOf(node, 'environment')?.value === 'test'
  return {
    identity: textOf(memberOf(node, 'identity')) ?? DEFAULT_AGENT.identity,
    environment: isTest ? 'test' : DEFAULT_AGENT.environment,
  }
}

function readTime(node: Node | undefined, report: Report): number | undefined {
  const text = textOf(node)
  if (node === undefined || text === undefined) return undefined
  const timeMs = parseRfc3339(text)
  if (timeMs === undefined) {
    report.add('GATE1503', node, timeSentence(text), timeIn(text))
  }
  return timeMs
}

function reportSameNames(tests: readonly PolicyTest[], report: Report): void {
  for (const { name, place, same } of repeated(tests.filter((test) => test.name !== '')))
    report.add('GATE1505', place, `${JSON.stringify(name)} is also the name of the test at ${others(place, same)}.`)
}

function reportUnused({ root, used, report }: TestFile): void {
  const tests = memberOf(root, 'tests')
  if (root.source.isPartial || (tests !== undefined && tests.items === undefined)) return
  const matrices = itemsOf(tests).map((test) => memberOf(test, 'matrix'))
  if (!matrices.every((matrix) => hasKnownKeys(matrix, Matrix))) return
  for (const dimension of DIMENSIONS) {
    for (const { name, key } of entriesOf(memberOf(root, SECTIONS[dimension]))) {
      if (!used[dimension].has(name)) report.add('GATE2050', key, `No test asks with ${JSON.stringify(name)}.`)
    }
  }
}
