import Type, { type Static } from 'typebox'
import { ACTION_PATTERN } from '../base/glob.ts'
import { parseRfc3339 } from '../base/time.ts'
import type { DiagnosticCode } from './codes.ts'
import { entriesOf, itemsOf, memberOf, type Node, textOf } from './node.ts'
import type { Report } from './report.ts'
import { EFFECTS, type PolicyData } from './set.ts'
import { shapeCheck } from './shape-check.ts'
import { API_VERSION } from './shapes.ts'
import { closest } from './suggest.ts'

const CLOSED = { additionalProperties: false }
const Name = Type.String({ minLength: 1 })
const Names = Type.Array(Name, { minItems: 1 })
const Action = Type.String({ pattern: ACTION_PATTERN })
const Time = Type.String({ description: 'RFC 3339 with zone' })
const Context = Type.Unsafe<Record<string, unknown>>({ type: 'object' })

function mapOf<T>(value: object) {
  return Type.Unsafe<Record<string, T>>({ type: 'object', additionalProperties: value })
}

/** Who asks, as far as policies can see it. */
const Agent = Type.Object(
  {
    identity: Type.Optional(Name),
    environment: Type.Optional(Type.Enum(['live', 'test'])),
    groups: Type.Optional(Type.Array(Name)),
    description: Type.Optional(Type.String()),
  },
  CLOSED,
)

const Risk = Type.Object(
  {
    score: Type.Optional(Type.Number()),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
  },
  CLOSED,
)

const WANTED = {
  decision: Type.Enum([...EFFECTS]),
  rule: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'] })),
  rules: Type.Optional(Type.Array(Name)),
  decidedBy: Type.Optional(Name),
  retry: Type.Optional(Name),
  reason: Type.Optional(Type.String()),
  unevaluable: Type.Optional(Type.Array(Name)),
  risk: Type.Optional(Risk),
}

/** What a test wants to be answered; what is left out is not looked at. */
const Expectation = Type.Object(WANTED, CLOSED)

/** An expectation for those combinations of a matrix that its selectors name. */
const SelectedExpectation = Type.Object(
  {
    ...WANTED,
    action: Type.Optional(Action),
    context: Type.Optional(Name),
    plan: Type.Optional(Name),
    agent: Type.Optional(Name),
  },
  CLOSED,
)

const Matrix = Type.Object(
  {
    actions: Type.Array(Action, { minItems: 1 }),
    contexts: Type.Optional(Names),
    plans: Type.Optional(Names),
    agents: Type.Optional(Names),
  },
  CLOSED,
)

const Test = Type.Object(
  {
    name: Name,
    description: Type.Optional(Type.String()),
    skip: Type.Optional(Type.String({ minLength: 1, description: 'Why the test is left out.' })),
    now: Type.Optional(Time),
    matrix: Matrix,
    /** One expectation for all, one by name of the context, or a list of selected ones; the rest is expected to be denied. */
    expect: Type.Unknown(),
  },
  CLOSED,
)

/** A `*.test.yaml` file. */
export const PolicyTestFile = Type.Object(
  {
    apiVersion: Type.Literal(API_VERSION),
    tenant: Name,
    description: Type.Optional(Type.String()),
    now: Type.Optional(Time),
    contexts: Type.Optional(mapOf<Record<string, unknown>>(Context)),
    plans: Type.Optional(mapOf<Record<string, unknown>>(Context)),
    agents: Type.Optional(mapOf<Static<typeof Agent>>(Agent)),
    tests: Type.Array(Test, { minItems: 1 }),
  },
  CLOSED,
)

function testCode(keyword: string): DiagnosticCode {
  if (keyword === 'additionalProperties') return 'GATE1501'
  return keyword === 'required' ? 'GATE1502' : 'GATE1503'
}

const checkShape = shapeCheck(PolicyTestFile, testCode)
const checkExpectation = shapeCheck(Expectation, testCode)
const checkSelected = shapeCheck(SelectedExpectation, testCode)

/** Reports the faults of a test file: its shape, and names that neither it nor the set declares. */
export function checkTestFile(root: Node, set: PolicyData, report: Report): void {
  checkShape(root, report)
  const tenant = memberOf(root, 'tenant')
  if (textOf(tenant) !== undefined && tenant !== undefined && tenant.value !== set.tenant) {
    report.add('GATE1110', tenant, `The tenant is not that of the folder.`, set.tenant)
  }
  checkTime(memberOf(root, 'now'), report)
  const names = new Set<string>()
  for (const test of itemsOf(memberOf(root, 'tests'))) {
    checkTest(test, root, set, report)
    const name = memberOf(test, 'name')
    const text = textOf(name)
    if (name === undefined || text === undefined) continue
    if (names.has(text)) report.add('GATE1505', name, `Another test is called ${JSON.stringify(text)}.`)
    names.add(text)
  }
}

function checkTest(test: Node, root: Node, set: PolicyData, report: Report): void {
  checkTime(memberOf(test, 'now'), report)
  const matrix = memberOf(test, 'matrix')
  for (const section of ['contexts', 'plans', 'agents']) {
    const known = entriesOf(memberOf(root, section)).map(({ name }) => name)
    checkReferences(itemsOf(memberOf(matrix, section)), known, section, report)
  }
  const expect = memberOf(test, 'expect')
  if (expect === undefined) return
  for (const wanted of expectationsOf(expect, matrix, report)) checkRules(wanted, set, report)
}

/** Checks the forms in which expectations are written, and gives the single ones. */
function expectationsOf(expect: Node, matrix: Node | undefined, report: Report): readonly Node[] {
  if (expect.items !== undefined) {
    for (const item of expect.items) checkSelected(item, report)
    return expect.items
  }
  if (expect.entries === undefined || expect.entries.has('decision')) {
    checkExpectation(expect, report)
    return [expect]
  }
  const known = itemsOf(memberOf(matrix, 'contexts')).flatMap((item) => textOf(item) ?? [])
  for (const { name, key, value } of entriesOf(expect)) {
    if (!known.includes(name)) {
      report.add('GATE1504', key, `The matrix has no context ${JSON.stringify(name)}.`, closest(name, known))
    }
    checkExpectation(value, report)
  }
  return entriesOf(expect).map(({ value }) => value)
}

function checkRules(wanted: Node, set: PolicyData, report: Report): void {
  const rules = set.rules.map(({ id }) => id)
  const rule = memberOf(wanted, 'rule')
  const named = [...(rule === undefined ? [] : [rule]), ...itemsOf(memberOf(wanted, 'rules'))]
  checkReferences(named, rules, 'rules', report)
  checkReferences(
    itemsOf(memberOf(wanted, 'unevaluable')),
    [...rules, ...set.factors.map(({ name }) => name)],
    'rules',
    report,
  )
}

function checkReferences(nodes: readonly Node[], known: readonly string[], section: string, report: Report): void {
  for (const node of nodes) {
    const name = textOf(node)
    if (name === undefined || known.includes(name)) continue
    report.add('GATE1504', node, `There is no ${JSON.stringify(name)} under ${section}.`, closest(name, known))
  }
}

function checkTime(node: Node | undefined, report: Report): void {
  const text = textOf(node)
  if (node === undefined || text === undefined || parseRfc3339(text) !== undefined) return
  report.add('GATE1503', node, `${JSON.stringify(text)} is no time with a zone such as 2026-01-31T09:00:00Z.`)
}
