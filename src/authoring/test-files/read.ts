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
import { timeIn, timeSentence } from '../suggest/time-constant.ts'
import { entriesOf, itemsOf, keyOf, memberOf, type Node, textOf } from '../yaml/node.ts'
import {
  casesIn,
  DEFAULT_AGENT,
  DEFAULT_NOW,
  type Dimension,
  type Fixture,
  type PastAction,
  type PolicyTest,
  SECTIONS,
  type TestAgent,
} from './cases.ts'
import { type Asked, readExpectations } from './expectations.ts'
import { hasKnownKeys, type KnownNames, knownNames, readNames, reportTwice } from './names.ts'
import { knownKeyCode, Matrix, PolicyTestFile, testReport } from './shapes.ts'

type Section = (typeof SECTIONS)[Dimension]

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
  readonly used: Readonly<Record<Section, Set<string>>>
  /** Reads the actions under a name of histories. */
  readonly historyOf: (node: Node) => readonly PastAction[]
  readonly report: Report
}

function readTestFile(written: Node, tenant: string, known: KnownNames, report: Report): PolicyTest[] {
  const root = repairKeys(written, PolicyTestFile, testReport(report))
  checkShape(root, report)
  checkTenant(root, tenant, report)
  const used = {
    contexts: new Set<string>(),
    plans: new Set<string>(),
    agents: new Set<string>(),
    histories: new Set<string>(),
  }
  const historyOf = memo((node: Node) => readHistory(node, file))
  const file: TestFile = { root, known, used, historyOf, report }
  // Reads also the histories that no test uses.
  for (const { value } of entriesOf(memberOf(root, 'histories'))) historyOf(value)
  const nowMs = readTime(memberOf(root, 'now'), report)
  const tests = itemsOf(memberOf(root, 'tests')).map((node) => readTest(node, nowMs, file))
  reportSameNames(tests, report)
  reportUnused(file)
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
    contexts: readDimension('contexts', matrix, file, contextOf, {}),
    plans: readDimension('plans', matrix, file, contextOf, undefined),
    agents: readDimension('agents', matrix, file, agentOf, DEFAULT_AGENT),
    histories: readDimension('histories', matrix, file, file.historyOf, []),
  }
  return {
    name: textOf(name) ?? '',
    skip: textOf(memberOf(node, 'skip')),
    nowMs: readTime(memberOf(node, 'now'), report) ?? fileNowMs ?? Date.parse(DEFAULT_NOW),
    ...dimensions,
    expectations: readExpectations(memberOf(node, 'expect'), {
      root,
      asked: hasKnownKeys(root, PolicyTestFile) && hasKnownKeys(matrix, Matrix) ? askedBy(dimensions) : undefined,
      known: file.known,
      report,
    }),
    place: name ?? node,
    expectPlace: keyOf(node, 'expect') ?? node,
  }
}

function askedBy({ actions, contexts, plans, agents, histories }: Pick<PolicyTest, 'actions' | Section>): Asked {
  const namesOf = (fixtures: readonly Fixture<unknown>[]) => new Set(fixtures.flatMap(({ name }) => name ?? []))
  return {
    actions,
    context: namesOf(contexts),
    plan: namesOf(plans),
    agent: namesOf(agents),
    history: namesOf(histories),
  }
}

/** Values of one dimension, or the default where the matrix leaves it out. */
function readDimension<T>(
  section: Section,
  matrix: Node | undefined,
  file: TestFile,
  readValue: (node: Node) => T,
  standIn: T,
): Fixture<T>[] {
  const nodes = itemsOf(memberOf(matrix, section))
  reportTwice(nodes, file.report)
  const fixtures = fixturesOf(section, nodes, file, readValue, standIn)
  return fixtures.length === 0 ? [{ name: undefined, value: standIn }] : fixtures
}

/** Fixtures that nodes name. */
function fixturesOf<T>(
  section: Section,
  nodes: readonly Node[],
  { root, used, report }: TestFile,
  readValue: (node: Node) => T,
  standIn: T,
): { name: string; value: T }[] {
  const fixtures = memberOf(root, section)
  const declared = hasKnownKeys(root, PolicyTestFile) ? (fixtures?.entries ?? NONE) : undefined
  return readNames(nodes, declared, `under ${section}`, report).map((name) => {
    used[section].add(name)
    const node = memberOf(fixtures, name)
    return { name, value: node === undefined ? standIn : readValue(node) }
  })
}

function readHistory(node: Node, file: TestFile): PastAction[] {
  return itemsOf(node).flatMap((item) => {
    const named = <T>(member: Dimension, readValue: (one: Node) => T, standIn: T): T => {
      const name = memberOf(item, member)
      return (
        fixturesOf(SECTIONS[member], name === undefined ? [] : [name], file, readValue, standIn)[0]?.value ?? standIn
      )
    }
    const past = {
      context: named('context', contextOf, {}),
      plan: named<JsonObject | undefined>('plan', contextOf, undefined),
      agent: named('agent', agentOf, DEFAULT_AGENT),
    }
    const action = textOf(memberOf(item, 'action'))
    const ago = memberOf(item, 'ago')
    const agoMs = ago && readDuration(ago, file.report)
    return action === undefined || agoMs === undefined ? [] : [{ action, ...past, agoMs }]
  })
}

function contextOf({ value }: Node): JsonObject {
  return isJsonObject(value) ? value : {}
}

function agentOf(node: Node): TestAgent {
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
  const matrices = itemsOf(memberOf(root, 'tests')).map((test) => memberOf(test, 'matrix'))
  if (!matrices.every((matrix) => hasKnownKeys(matrix, Matrix))) return
  for (const section of Object.values(SECTIONS)) {
    for (const { name, key } of entriesOf(memberOf(root, section))) {
      if (!used[section].has(name)) report.add('GATE2050', key, `No test asks with ${JSON.stringify(name)}.`)
    }
  }
}
