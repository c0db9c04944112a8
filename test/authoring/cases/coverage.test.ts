import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { boundariesOf } from '../../../src/authoring/cases/boundaries.ts'
import { casesOf } from '../../../src/authoring/cases/cases.ts'
import {
  type CoverageItem,
  coverageOf,
  coverageTotal,
  missingBoundariesOf,
  missingOf,
  percentOf,
} from '../../../src/authoring/cases/coverage.ts'
import { lcovOf } from '../../../src/authoring/cases/lcov.ts'
import { runCase } from '../../../src/authoring/cases/run.ts'
import { loadPolicySet } from '../../../src/authoring/load/load.ts'
import { newWork } from '../../../src/base/work.ts'
import { readTenantFolder } from '../../../src/files/read-folders.ts'
import { compileTest, OPERATORS } from '../../../src/policies/operators.ts'
import { processorMs } from '../../processor.ts'
import { HEADER, load } from '../sources.ts'
import { readLcov } from './lcov-reader.ts'

/** Returns the coverage of the policy by the tests. */
async function itemsOf(policy: string, tests: string): Promise<readonly CoverageItem[]> {
  const loaded = load({ 'main.yaml': HEADER + policy, 'a.test.yaml': HEADER + tests })
  const { set } = loaded
  assert.ok(set, JSON.stringify(loaded.diagnostics))
  const coverage = coverageOf(set)
  for (const asked of loaded.tests.flatMap(casesOf)) coverage.add((await runCase(set, asked)).judgement)
  return coverage.items()
}

/** Returns the possible outcomes of each item and how often each was seen: `rule r: true 1, decided 1`. */
function told(items: readonly CoverageItem[]): string[] {
  return items.map(({ kind, name, seen }) => `${kind} ${name}: ${[...seen].map((pair) => pair.join(' ')).join(', ')}`)
}

const NO_TESTS = 'tests: [{name: n, matrix: {actions: [not.asked]}, expect: {decision: deny}}]\n'
const rule = (when: string, actions = 'x'): string =>
  `rules: [{id: r, actions: [${actions}], effect: deny, reason: R., when: ${when}}]\n`
const TYPED = 'facts: {context.n: {type: number}, context.d: {type: number, default: 1}, plan.n: {type: number}}\n'
const REQUIRED = `${TYPED}actions: {x: {context: {type: object, required: [n], properties: {n: {type: number}}}}}\n`
const N = '{fact: context.n, operator: lessThan, value: 5}'

/** Possible outcomes in each policy, before any case has run. */
const POSSIBLE: { name: string; policy: string; can: string[] }[] = [
  {
    name: 'without a condition a rule always matches',
    policy: 'rules: [{id: r, actions: [x], effect: allow, reason: R.}]\n',
    can: ['rule r: true 0, decided 0'],
  },
  {
    name: 'a fact that nothing is known of',
    policy: rule(N),
    can: [
      'comparison context.n lessThan 5: true 0, false 0, unknown 0',
      'rule r: true 0, false 0, unknown 0, decided 0',
    ],
  },
  {
    name: 'a fact with a default',
    policy: TYPED + rule('{fact: context.d, operator: lessThan, value: 5}'),
    can: ['comparison context.d lessThan 5: true 0, false 0', 'rule r: true 0, false 0, decided 0'],
  },
  {
    name: 'a fact that the schema requires',
    policy: REQUIRED + rule(N),
    can: ['comparison context.n lessThan 5: true 0, false 0', 'rule r: true 0, false 0, decided 0'],
  },
  {
    name: 'a fact that the schemas of two actions require, one of them',
    policy: `${REQUIRED.replace('}}}}}\n', '}}}}, y: {}}\n')}${rule(N, 'x, y')}`,
    can: [
      'comparison context.n lessThan 5: true 0, false 0, unknown 0',
      'rule r: true 0, false 0, unknown 0, decided 0',
    ],
  },
  {
    name: 'a fact of the plan, which may be left out',
    policy: REQUIRED + rule('{fact: plan.n, operator: lessThan, value: 5}'),
    can: ['comparison plan.n lessThan 5: true 0, false 0, unknown 0', 'rule r: true 0, false 0, unknown 0, decided 0'],
  },
  {
    name: 'a fact that is always there',
    policy: rule('{fact: time.hour, operator: lessThan, value: 5}'),
    can: ['comparison time.hour lessThan 5: true 0, false 0', 'rule r: true 0, false 0, decided 0'],
  },
  {
    name: 'the domain of an action in one',
    policy: `domains: {d: [x]}\n${rule('{fact: domain, operator: equal, value: d}')}`,
    can: ['comparison domain equal "d": true 0, false 0', 'rule r: true 0, false 0, decided 0'],
  },
  {
    name: 'the domain of actions in none',
    policy: `domains: {d: [x]}\n${rule('{fact: domain, operator: equal, value: d}', '"*"')}`,
    can: ['comparison domain equal "d": true 0, false 0, unknown 0', 'rule r: true 0, false 0, unknown 0, decided 0'],
  },
  {
    name: 'exists is never unknown',
    policy: rule('{fact: context.n, operator: exists}'),
    can: ['comparison context.n exists: true 0, false 0', 'rule r: true 0, false 0, decided 0'],
  },
  {
    name: 'exists of what is required is never false',
    policy: REQUIRED + rule('{fact: context.n, operator: exists}'),
    can: ['comparison context.n exists: true 0', 'rule r: true 0, decided 0'],
  },
  {
    name: 'missing of what has a default is never true',
    policy: TYPED + rule('{fact: context.d, operator: missing}'),
    can: ['comparison context.d missing: false 0', 'rule r: false 0, decided 0'],
  },
  {
    name: 'a guarded comparison leaves the rule certain',
    policy: rule(`{all: [{fact: context.n, operator: exists}, ${N}]}`),
    can: [
      'comparison context.n exists: true 0, false 0',
      'comparison context.n lessThan 5: true 0, false 0, unknown 0',
      'rule r: true 0, false 0, decided 0',
    ],
  },
  {
    name: 'a factor with a scale of what may be missing',
    policy: 'risk: [{name: f, actions: [x], weight: 5, scale: {fact: context.n, from: 0, to: 1}}]\n',
    can: ['factor f: true 0, unknown 0'],
  },
  {
    name: 'a factor that is certain',
    policy: 'risk: [{name: f, actions: [x], weight: 5, when: {not: {fact: agent, operator: equal, value: a}}}]\n',
    can: ['comparison agent equal "a": true 0, false 0', 'factor f: true 0, false 0'],
  },
  {
    name: 'a named condition counts once, with what can happen for one of its users',
    policy: `${REQUIRED}conditions: {c: ${N}}\nrules: [{id: r, actions: [x], effect: deny, reason: R., when: {condition: c}}, {id: s, actions: [z], effect: allow, reason: S., when: {condition: c}}]\n`,
    can: [
      'comparison context.n lessThan 5: true 0, false 0, unknown 0',
      'rule r: true 0, false 0, decided 0',
      'rule s: true 0, false 0, unknown 0, decided 0',
    ],
  },
  {
    name: 'a named condition counts once, whichever of its users comes first',
    policy: `${REQUIRED}conditions: {c: ${N}}\nrules: [{id: s, actions: [z], effect: allow, reason: S., when: {condition: c}}, {id: r, actions: [x], effect: deny, reason: R., when: {condition: c}}]\n`,
    can: [
      'comparison context.n lessThan 5: true 0, false 0, unknown 0',
      'rule r: true 0, false 0, decided 0',
      'rule s: true 0, false 0, unknown 0, decided 0',
    ],
  },
]
for (const { name, policy, can } of POSSIBLE) {
  test(`coverage: ${name}`, async () => {
    assert.deepEqual(told(await itemsOf(policy, NO_TESTS)).sort(), can)
  })
}

// Counted by hand: the comparison is asked in three cases, in the fourth the context does not fit.
test('coverage: what each case sees is counted, and a case that does not fit its schema sees nothing', async () => {
  const policy = `facts: {context.n: {type: number}}
actions: {x: {context: {type: object, properties: {n: {type: number}}}}}
risk: [{name: f, actions: [x], weight: 5, when: ${N}}]
rules:
  - {id: stop, actions: [x], effect: deny, reason: R., when: {fact: context.n, operator: lessThan, value: 2}}
  - {id: go, actions: [x], effect: allow, reason: R.}
`
  const tests = `contexts: {a: {n: 1}, b: {n: 3}, none: {}, bad: {n: text}}
tests: [{name: n, matrix: {actions: [x], contexts: [a, b, none, bad]}, expect: {a: {decision: deny}, b: {decision: allow}, none: {decision: deny}}}]
`
  const items = await itemsOf(policy, tests)
  assert.deepEqual(told(items), [
    'factor f: true 2, false 0, unknown 1',
    'comparison context.n lessThan 5: true 2, false 0, unknown 1',
    'rule stop: true 1, false 1, unknown 1, decided 2',
    'comparison context.n lessThan 2: true 1, false 1, unknown 1',
    'rule go: true 3, decided 1',
  ])
  assert.deepEqual(
    items.map(({ asked }) => asked),
    [3, 3, 3, 3, 3],
  )
  assert.deepEqual(items.map(missingOf), [['false'], ['false'], [], [], []])
  assert.deepEqual(coverageTotal(items), { outcomes: 15, covered: 13, boundaries: 4, boundariesCovered: 1 })
})

/** Boundaries that no case tries, for one comparison of context.n, by the values that cases have. */
const BOUNDARIES: { name: string; operator: string; value: string; seen: string[]; missing: string[] }[] = [
  {
    name: 'both sides',
    operator: 'greaterThan',
    value: '10000',
    seen: ['5', '99999'],
    missing: ['at 10000', 'above 10001'],
  },
  { name: 'none', operator: 'greaterThan', value: '10000', seen: ['10000', '10001'], missing: [] },
  { name: 'a hundredth above', operator: 'lessThanInclusive', value: '10000', seen: ['10100'], missing: ['at 10000'] },
  {
    name: 'more than that',
    operator: 'lessThanInclusive',
    value: '10000',
    seen: ['10101'],
    missing: ['at 10000', 'above 10001'],
  },
  {
    name: 'the other side',
    operator: 'greaterThan',
    value: '10000',
    seen: ['9999'],
    missing: ['at 10000', 'above 10001'],
  },
  { name: 'below', operator: 'lessThan', value: '7', seen: ['7', '5'], missing: ['below 6'] },
  { name: 'one unit below', operator: 'greaterThanInclusive', value: '7', seen: ['6'], missing: ['at 7'] },
  { name: 'decimals', operator: 'lessThan', value: '9.99', seen: ['9.99', '9.5'], missing: ['below 9.98'] },
  { name: 'a hundredth of decimals', operator: 'lessThan', value: '9.99', seen: ['9.9'], missing: ['at 9.99'] },
  { name: 'a negated comparison', operator: 'not:lessThan', value: '7', seen: ['6'], missing: ['at 7'] },
  { name: 'an item', operator: 'someFact:greaterThan', value: '7', seen: ['[1, 8, 70]'], missing: ['at 7'] },
  { name: 'another type', operator: 'greaterThan', value: '7', seen: ['"7"', '"8"'], missing: ['at 7', 'above 8'] },
  {
    name: 'a time',
    operator: 'before',
    value: '2026-01-01T00:00:00+01:00',
    seen: ['"2025-12-31T23:00:00Z"'],
    missing: ['before 2025-12-31T22:59:59Z'],
  },
  {
    name: 'a minute later',
    operator: 'after',
    value: '2026-01-01T00:00:00Z',
    seen: ['"2026-01-01T00:01:00Z"'],
    missing: ['at 2026-01-01T00:00:00Z'],
  },
  { name: 'no threshold', operator: 'equal', value: '7', seen: ['6'], missing: [] },
]
for (const { name, operator, value, seen, missing } of BOUNDARIES) {
  test(`coverage: boundaries: ${name}`, async () => {
    const contexts = seen.map((one, i) => `c${i}: {n: ${one}}`).join(', ')
    const tests = `contexts: {${contexts}}
tests: [{name: n, matrix: {actions: [x], contexts: [${seen.map((_, i) => `c${i}`).join(', ')}]}, expect: {decision: deny}}]
`
    const items = await itemsOf(rule(`{fact: context.n, operator: "${operator}", value: ${value}}`), tests)
    const told = items.flatMap(missingBoundariesOf).map((boundary) => `${boundary.side} ${boundary.value}`)
    assert.deepEqual(told, missing)
  })
}

const OPERATORS_OF_NUMBERS = ['lessThan', 'lessThanInclusive', 'greaterThan', 'greaterThanInclusive']

test('boundaries: the values to try are on their own side alone, and the comparison tells them apart', () => {
  const limits = fc.integer({ min: -(10 ** 9), max: 10 ** 9 })
  const decimals = fc.integer({ min: 0, max: 4 })
  fc.assert(
    fc.property(fc.constantFrom(...OPERATORS_OF_NUMBERS), limits, decimals, (name, digits, places) => {
      const wanted = Number((digits / 10 ** places).toFixed(places))
      const boundaries = boundariesOf({ operator: name, wanted })
      const sides = boundaries.map(({ value }) => boundaries.map(({ has }) => has(value)))
      assert.deepEqual(sides, [
        [true, false],
        [false, true],
      ])
      const operator = OPERATORS.get(name)
      const compare = operator && compileTest(operator, wanted, new Map())
      const results = boundaries.map(({ value }) => compare?.(value, newWork()))
      assert.deepEqual(results.toSorted(), ['false', 'true'])
    }),
  )
})

test('policies: the tests of each set see every outcome and every boundary', async () => {
  const root = fileURLToPath(new URL('../../../policies', import.meta.url))
  for (const tenant of readdirSync(root)) {
    const { source } = readTenantFolder(root, tenant)
    assert.ok('files' in source)
    const { set, tests } = loadPolicySet(source)
    assert.ok(set, tenant)
    const coverage = coverageOf(set)
    for (const asked of tests.flatMap(casesOf)) coverage.add((await runCase(set, asked)).judgement)
    const gaps = coverage
      .items()
      .flatMap((item) => [
        ...missingOf(item).map((branch) => `${item.file}:${item.line} ${item.name}: ${branch}`),
        ...missingBoundariesOf(item).map(
          ({ side, value }) => `${item.file}:${item.line} ${item.name}: ${side} ${value}`,
        ),
      ])
    assert.deepEqual(gaps, [], tenant)
  }
})

test('coverage: leaves that ask the same are counted each at its place', async () => {
  const items = await itemsOf(
    `rules:\n  - {id: r, actions: [x], effect: allow, reason: R., when: {any: [{all: [${N},\n      {fact: agent, operator: equal, value: a}]}, ${N}]}}\n`,
    'tests: [{name: n, matrix: {actions: [x]}, expect: {decision: deny}}]',
  )
  assert.deepEqual(
    items.map(({ line, asked }) => [line, asked]),
    [
      [4, 1],
      [4, 1],
      [5, 1],
      [5, 1],
    ],
  )
})

test('coverage: percents are rounded down, and of nothing all is covered', () => {
  assert.equal(percentOf({ outcomes: 0, covered: 0 }), 100)
  assert.equal(percentOf({ outcomes: 3, covered: 2 }), 66.6)
  assert.equal(percentOf({ outcomes: 10_000, covered: 9_999 }), 99.9)
})

const GOLDEN = new URL('../../testdata/cases/', import.meta.url)

test('lcov: the file is as kept, and a strict reader finds its counts correct', async () => {
  const { source } = readTenantFolder(fileURLToPath(new URL('policies', GOLDEN)), 'shop')
  assert.ok('files' in source)
  const { set, tests } = loadPolicySet(source)
  assert.ok(set)
  const coverage = coverageOf(set)
  const run = tests.filter(({ skip }) => skip === undefined)
  for (const asked of run.flatMap(casesOf)) coverage.add((await runCase(set, asked)).judgement)
  const text = lcovOf(coverage.items(), (file) => `policies/${file}`)
  assert.equal(text, readFileSync(new URL('coverage.info', GOLDEN), 'utf8'))
  const [record, ...more] = readLcov(text)
  assert.equal(more.length, 0)
  assert.equal(record?.file, 'policies/shop/main.yaml')
  const total = coverageTotal(coverage.items())
  assert.deepEqual(
    [record?.branches.length, record?.branches.filter(({ taken }) => (taken ?? 0) > 0).length],
    [total.outcomes, total.covered],
  )
  // The rule `abroad`: true once, false twice, and it decided once.
  assert.deepEqual(
    record?.branches.filter(({ line }) => line === 20).map(({ taken }) => taken),
    [1, 2, 1],
  )
})

test('lcov: what was never asked is a dash, and a name of a file cannot add a record', async () => {
  const items = await itemsOf('rules: [{id: r, actions: [x], effect: allow, reason: R.}]\n', NO_TESTS)
  const text = lcovOf(items, () => 'a\nSF:b\u2028c')
  const [record, ...more] = readLcov(text)
  assert.equal(more.length, 0)
  assert.equal(record?.file, 'a\\u{a}SF:b\\u{2028}c')
  assert.deepEqual(
    record?.branches.map(({ taken }) => taken),
    [undefined, undefined],
  )
  assert.deepEqual([...(record?.lines ?? [])], [[3, 0]])
})

test('lcov: as many comparisons as a set may hold, all on one line, are written in good time', async () => {
  const items = await itemsOf('rules: [{id: r, actions: [x], effect: allow, reason: R.}]\n', NO_TESTS)
  const started = processorMs()
  const text = lcovOf(Array.from({ length: 100_000 }, () => items).flat(), (file) => file)
  assert.ok(processorMs() - started < 20_000)
  assert.match(text, /\nBRF:200000\n/)
})
