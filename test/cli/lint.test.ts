import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder, writeFiles } from '../helpers.ts'
import { run } from './program.ts'

const HEADER = 'apiVersion: gate-sidecar/v1\ntenant: acme\n'
const POLICY = `${HEADER}risk:
  - {name: large, actions: [pay], weight: 50, when: {fact: context.amount, operator: greaterThan, value: 10}}
rules:
  - {id: pays, actions: [pay], effect: allow, reason: R.}
  - {id: stops, actions: [stop], effect: deny, reason: R., when: {all: [{fact: context.a, operator: exists}, {fact: context.a, operator: equal, value: 1}]}}
`
const TESTS = (matrix: string, more = '') =>
  `${HEADER}contexts: {small: {amount: 1}, large: {amount: 20}, one: {a: 1}, two: {a: 2}}\ntests: [{name: n, matrix: ${matrix}, expect: {decision: deny}${more}}]\n`
const ALL = '{actions: [pay, stop], contexts: [small, large, one, two]}'

const ROWS: [name: string, files: Record<string, string>, found: string[]][] = [
  ['no tests, of which nothing is said', { 'main.yaml': POLICY }, []],
  ['tests that make all match, passing or not', { 'main.yaml': POLICY, 'a.test.yaml': TESTS(ALL) }, []],
  [
    'a rule and a factor of which the condition is never true',
    { 'main.yaml': POLICY, 'a.test.yaml': TESTS('{actions: [pay, stop], contexts: [small, two]}') },
    [
      'main.yaml:4:12 GATE2101 The tests never make factor large match',
      'main.yaml:7:10 GATE2101 The tests never make rule stops match',
    ],
  ],
  [
    'a rule that no case is about',
    { 'main.yaml': POLICY, 'a.test.yaml': TESTS('{actions: [pay], contexts: [large]}') },
    ['main.yaml:7:10 GATE2101 No test asks about an action of rule stops'],
  ],
  [
    'a skipped test, which is not run',
    { 'main.yaml': POLICY, 'a.test.yaml': TESTS(ALL, ', skip: later') },
    [
      'main.yaml:4:12 GATE2101',
      'main.yaml:6:10 GATE2101 No test asks about an action of rule pays',
      'main.yaml:7:10 GATE2101',
    ],
  ],
  [
    'a comment that ignores it',
    {
      'main.yaml': POLICY.replace('  - {id: stops', '  # lint-ignore GATE2101: tried by hand\n  - {id: stops'),
      'a.test.yaml': TESTS('{actions: [pay], contexts: [large]}'),
    },
    [],
  ],
  [
    'a comment that ignores nothing',
    {
      'main.yaml': POLICY.replace('  - {id: stops', '  # lint-ignore GATE2101: tried by hand\n  - {id: stops'),
      'a.test.yaml': TESTS(ALL),
    },
    ['main.yaml:7:3 GATE2024 There is no GATE2101 here'],
  ],
  [
    'a comment that ignores it where no test is run',
    { 'main.yaml': POLICY.replace('  - {id: stops', '  # lint-ignore GATE2101: tried by hand\n  - {id: stops') },
    [],
  ],
  [
    'errors, with which no test is run',
    { 'main.yaml': POLICY, 'a.test.yaml': TESTS('{actions: [pay], contexts: [largest]}') },
    ['a.test.yaml:4:55 GATE1504'],
  ],
]

for (const [name, files, wanted] of ROWS) {
  test(`lint, what the tests leave out: ${name}`, async () => {
    const policies = temporaryFolder()
    writeFiles(policies, Object.fromEntries(Object.entries(files).map(([file, text]) => [`acme/${file}`, text])))
    const { code, stdout, stderr } = await run(['lint', '--policies', policies, '--json'])
    assert.equal(stderr, '')
    const { diagnostics }: { diagnostics: Record<string, string>[] } = JSON.parse(stdout)
    const found = diagnostics
      .filter(({ code: fault }) => fault !== 'GATE2050')
      .map(
        ({ file, line, column, code: fault, message }) =>
          `${file?.slice('acme/'.length)}:${line}:${column} ${fault} ${message}`,
      )
    assert.equal(found.length, wanted.length, found.join('\n'))
    for (const [i, begin] of wanted.entries())
      assert.ok(found[i]?.startsWith(begin), `${found[i]} in place of ${begin}`)
    assert.equal(code, diagnostics.length > 0 ? 1 : 0)
    const validated = await run(['validate', '--policies', policies])
    assert.ok(!validated.stdout.includes('GATE2101'))
  })
}

test('lint: shipped policies and those that init writes have nothing to be said of', async () => {
  const init = temporaryFolder()
  const written = await run(['init', '--tenant', 'acme'], { cwd: init })
  assert.equal(written.code, 0, written.stderr)
  for (const policies of ['policies', join(init, 'policies')]) {
    const { stdout } = await run(['lint', '--policies', policies])
    assert.match(stdout, /: 0 errors, 0 warnings\.\n$/)
  }
})
