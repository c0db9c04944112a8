import assert from 'node:assert/strict'
import { test } from 'node:test'
import { casesOf, combinationText } from '../../../src/authoring/cases/cases.ts'
import { LIMITS } from '../../../src/authoring/load/limits.ts'
import { DEFAULT_NOW, type PolicyTest } from '../../../src/authoring/test-files/cases.ts'
import { processorMs } from '../../processor.ts'
import { HEADER, load, marked } from '../sources.ts'

const POLICY = `${HEADER}
risk:
  - {name: amount, actions: ["payment.*"], weight: 50}
rules:
  - {id: small, actions: [payment.transfer], effect: allow, reason: Small.}
  - {id: refunds, actions: [payment.refund], effect: allow, reason: Refunds.}
`

/** Fixtures that all texts have, with one test that uses each of them. */
const FILE = `${HEADER}contexts: {small: {amount: 1}, large: {amount: 9}}
plans: {short: {action: payment.transfer}}
agents: {bot: {identity: bot}, tester: {environment: test}}
tests:
  - name: all
    matrix: {actions: [a.b], contexts: [small, large], plans: [short], agents: [bot, tester]}
    expect: {decision: deny}
`

function diagnose(text: string, policy = POLICY) {
  return load({ 'main.yaml': policy, 'a.test.yaml': text }).diagnostics
}

/** Faults of a test that is added to the file; the marks stand where the faults are. */
const FAULTS: { name: string; text: string; says?: RegExp; suggests?: string }[] = [
  { name: 'a key that is none', text: 'expect: {decision: deny, «1501»rul: small}', suggests: 'rule' },
  { name: 'a decision that is none', text: 'expect: {decision: «1503»allowed}', suggests: 'allow' },
  { name: 'no decision', text: 'expect: {«1502»rule: small}' },
  { name: 'a decision misspelt, and nothing else', text: 'expect: {«1504»decison: allow}', suggests: 'decision' },
  { name: 'a rule that is none', text: 'expect: {decision: allow, rule: «1504»smal}', suggests: 'small' },
  {
    name: 'a factor in the place of a rule',
    text: 'expect: {decision: allow, rule: «1504»amount}',
    says: /under rules/,
  },
  {
    name: 'matched rules that are none',
    text: 'expect: {decision: allow, rules: [small, «1504»refund]}',
    suggests: 'refunds',
  },
  { name: 'a factor that is none', text: 'expect: {decision: allow, factors: {«1504»amout: 5}}', suggests: 'amount' },
  {
    name: 'an unevaluable that is none',
    text: 'expect: {decision: allow, unevaluable: [amount, small, «1504»x]}',
    says: /rules or risk/,
  },
  { name: 'a step that is none', text: 'expect: {decision: deny, decidedBy: «1503»deny-rule}', suggests: 'deny_rule' },
  { name: 'a step that no test reaches', text: 'expect: {decision: deny, decidedBy: «1503»kill_switch}' },
  {
    name: 'a retry that is none',
    text: 'expect: {decision: deny, retry: «1503»after_aproval}',
    suggests: 'after_approval',
  },
  {
    name: 'bounds that exclude every number',
    text: 'expect: {decision: deny, risk: {min: «1507»50, max: 40}}',
    says: /50.*40/,
  },
  {
    name: 'bounds of a factor that exclude every number',
    text: 'expect: {decision: deny, factors: {amount: {min: «1507»2, max: 1}}}',
  },
  { name: 'a score beside a bound', text: 'expect: {decision: deny, risk: {score: 5, «1503»max: 9}}', says: /exactly/ },
  { name: 'a risk without bounds', text: 'expect: {decision: deny, risk: «1503»{}}', says: /empty/ },
  { name: 'a score above 100', text: 'expect: {decision: deny, risk: {score: «1503»101}}' },
  {
    name: 'a factor that is no number',
    text: 'expect: {decision: deny, factors: {amount: «1503»"5"}}',
    says: /number/,
  },
  { name: 'a factor below 0', text: 'expect: {decision: deny, factors: {amount: «1503»-1}}' },
  {
    name: 'a range of a factor with a key that is none',
    text: 'expect: {decision: deny, factors: {amount: {«1501»mx: 1}}}',
    suggests: 'max',
  },
  { name: 'rules that are no list', text: 'expect: {decision: deny, rules: «1503»small}' },
  { name: 'an empty list', text: 'expect: «1503»[]' },
  { name: 'an empty mapping', text: 'expect: «1503»{}' },
  { name: 'a text', text: 'expect: «1503»deny' },
  { name: 'nothing expected', text: '«1502»' },
  { name: 'a context that is none', text: 'expect: {small: {decision: deny}, «1504»lage: {decision: deny}}' },
  {
    name: 'a context that the matrix does not ask',
    text: 'expect: {small: {decision: deny}, «1508»large: {decision: deny}}',
  },
  { name: 'a context with a text in place of an expectation', text: 'expect: {small: «1503»allow}' },
  {
    name: 'an item for an action outside the matrix',
    text: 'expect: [{action: «1508»payment.refund, decision: deny}]',
  },
  { name: 'an item for a pattern that matches nothing', text: 'expect: [{action: «1508»"refund.*", decision: deny}]' },
  { name: 'an item with a malformed pattern', text: 'expect: [{action: «1503»"a b", decision: deny}]' },
  { name: 'an item for a context outside the matrix', text: 'expect: [{context: «1508»large, decision: deny}]' },
  { name: 'an item for a plan outside the matrix', text: 'expect: [{plan: «1508»short, decision: deny}]' },
  { name: 'an item for an agent that is none', text: 'expect: [{agent: «1504»boot, decision: deny}]' },
  {
    name: 'an item with a key that is none',
    text: 'expect: [{«1501»contxt: small, decision: deny}]',
    suggests: 'context',
  },
  { name: 'an item that is no mapping', text: 'expect: [«1503»deny]' },
  { name: 'a clock without a zone', text: 'now: «1503»2026-01-01T00:00:00\n    expect: {decision: deny}' },
  { name: 'a skip without a reason', text: 'skip: «1503»""\n    expect: {decision: deny}' },
]

for (const { name, text, says, suggests } of FAULTS) {
  test(`load: ${name}`, () => {
    const { text: plain, wanted } = marked(
      `${FILE}  - «1502»name: one\n    matrix: {actions: [payment.transfer], contexts: [small]}\n    ${text}\n`,
    )
    // A missing key points at the first key of its mapping, which here is the name.
    const expected = text === '«1502»' ? wanted.slice(0, 1) : wanted.slice(1)
    const found = diagnose(plain)
    assert.deepEqual(
      found.map(({ code, line, column }) => [code, line, column]),
      expected,
      JSON.stringify(found, null, 1),
    )
    if (says !== undefined) assert.match(found[0]?.message ?? '', says)
    if (suggests !== undefined) assert.equal(found[0]?.suggestion, suggests)
  })
}

/** Whole files. */
const FILES: { name: string; text: string; policy?: string }[] = [
  {
    name: 'a fixture that no test uses is a warning',
    text: 'contexts: {«2050»a: {}}\nagents: {«2050»b: {}}\ntests:\n  - {name: n, matrix: {actions: [x]}, expect: {decision: deny}}',
  },
  {
    name: 'fixtures are declared',
    text: 'tests:\n  - {name: n, matrix: {actions: [x], contexts: [«1504»a], plans: [«1504»b], agents: [«1504»c]}, expect: {decision: deny}}',
  },
  {
    name: 'what is listed twice',
    text: 'contexts: {a: {}}\ntests:\n  - {name: n, matrix: {actions: [x, «1510»x], contexts: [a, «1510»a]}, expect: {decision: deny}}',
  },
  {
    name: 'two tests of one name',
    text: 'tests:\n  - {name: «1505»n, matrix: {actions: [x]}, expect: {decision: deny}}\n  - {name: «1505»n, matrix: {actions: [x]}, expect: {decision: deny}}',
  },
  {
    name: 'an action with a star',
    text: 'tests:\n  - {name: n, matrix: {actions: [«1503»"x.*"]}, expect: {decision: deny}}',
  },
  {
    name: 'a context that is no mapping',
    text: 'contexts: {a: «1503»[]}\ntests:\n  - {name: n, matrix: {actions: [x], contexts: [a]}, expect: {decision: deny}}',
  },
  {
    name: 'groups, which policies do not see',
    text: 'agents: {a: {«1501»groups: [x]}}\ntests:\n  - {name: n, matrix: {actions: [x], agents: [a]}, expect: {decision: deny}}',
  },
  {
    name: 'a misspelt section is one fault',
    text: '«1501»contxts: {a: {}}\ntests:\n  - {name: n, matrix: {actions: [x], contexts: [a]}, expect: {a: {decision: deny}}}',
  },
  {
    name: 'a misspelt dimension is one fault',
    text: 'contexts: {a: {}}\ntests:\n  - {name: n, matrix: {actions: [x], «1501»contxts: [a]}, expect: {a: {decision: deny}}}',
  },
  {
    name: 'an action one slip away from one that a rule names',
    text: 'tests:\n  - {name: n, matrix: {actions: [«2052»payment.transfr]}, expect: {decision: deny}}',
  },
  {
    name: 'the same action, expected to be decided by no rule',
    text: 'tests:\n  - {name: n, matrix: {actions: [payment.transfr]}, expect: {decision: deny, decidedBy: default}}',
  },
  {
    name: 'a past action one slip away from one that a rule names',
    text: 'histories: {h: [{action: «2052»payment.transfr, ago: 1h}]}\ntests:\n  - {name: n, matrix: {actions: [x], histories: [h]}, expect: {decision: deny}}',
  },
  {
    name: 'members one slip away from those of a schema and of a fact',
    policy: `${HEADER}facts: {context.of.iban: {type: string}}\nactions: {x: {context: {type: object, properties: {amount: {type: number}}}}}\n`,
    text: 'contexts: {a: {«2052»amuont: 5, of: {«2052»ibn: DE}}, b: {amuont: 5}, c: {amounts: 5, amount: 5}}\ntests:\n  - {name: n, matrix: {actions: [x], contexts: [a, c]}, expect: {decision: deny}}\n  - {name: o, matrix: {actions: [x], contexts: [b]}, expect: {decision: deny, decidedBy: invalid_context}}',
  },
  {
    name: 'bounds that exclude no number',
    text: 'tests:\n  - {name: n, matrix: {actions: [payment.transfer]}, expect: {decision: allow, risk: {«2051»min: 0}, factors: {amount: {«2051»max: 50}}}}',
  },
  {
    name: 'bounds that exclude some',
    text: 'tests:\n  - {name: n, matrix: {actions: [payment.transfer]}, expect: {decision: allow, risk: {min: 0, max: 60}, factors: {amount: {min: 1}}}}',
  },
  { name: 'no tests', text: 'tests: «1503»[]' },
  { name: 'no matrix', text: 'tests:\n  - {«1502»name: n, expect: {decision: deny}}' },
]
for (const { name, text, policy } of FILES) {
  test(`load: ${name}`, () => {
    const { text: plain, wanted } = marked(`${HEADER}${text}\n`)
    const found = diagnose(plain, policy)
    assert.deepEqual(
      found.map(({ code, line, column }) => [code, line, column]),
      wanted,
      JSON.stringify(found, null, 1),
    )
  })
}

test('load: names are not looked for where a policy file cannot be read, or a rule has another fault', () => {
  const file = `${HEADER}tests:\n  - {name: n, matrix: {actions: [x]}, expect: {decision: allow, rule: small}}\n`
  const codes = (policy: string) => diagnose(file, policy).map(({ code }) => code)
  assert.deepEqual(codes(`${HEADER}rules: [\n`), ['GATE1003'])
  assert.deepEqual(codes(`${HEADER}rules:\n  - {id: small, actions: [x], effect: alow, reason: R.}\n`), ['GATE1104'])
})

test(`load: more than ${LIMITS.casesPerSet} cases of all tests together are an error at the test that goes beyond`, () => {
  const names = (prefix: string): string[] => Array.from({ length: 100 }, (_, i) => `${prefix}${i}`)
  const contexts = names('c').map((name) => `  ${name}: {}`)
  const big = (name: string): string =>
    `  - name: ${name}\n    matrix: {actions: [${names('a').join(', ')}], contexts: [${names('c').join(', ')}]}\n    expect: {decision: deny}\n`
  const file = (tests: string): string => `${HEADER}contexts:\n${contexts.join('\n')}\ntests:\n${tests}`
  assert.deepEqual(diagnose(file(big('one'))), [])
  const [fault, ...more] = diagnose(file(big('one') + big('two')))
  assert.deepEqual([fault?.code, fault?.path, more.length], ['GATE1509', '$.tests[1].name', 0])
})

function onlyTest(text: string): PolicyTest {
  const { tests, diagnostics } = load({ 'main.yaml': POLICY, 'a.test.yaml': HEADER + text })
  assert.deepEqual(diagnostics, [])
  assert.equal(tests.length, 1)
  return tests[0] ?? assert.fail()
}

test('load: what a test leaves out stands as documented', () => {
  const one = onlyTest('tests: [{name: n, matrix: {actions: [x]}, expect: {decision: deny}}]')
  assert.equal(one.nowMs, Date.parse(DEFAULT_NOW))
  assert.equal(new Date(one.nowMs).getUTCDay(), 1, 'a Monday')
  const [asked, ...more] = casesOf(one)
  assert.equal(more.length, 0)
  assert.deepEqual(
    [asked?.context, asked?.plan, asked?.agent],
    [
      { name: undefined, value: {} },
      { name: undefined, value: undefined },
      { name: undefined, value: { identity: 'agent', environment: 'live' } },
    ],
  )
  const agents = onlyTest(
    'agents: {a: {}, b: {identity: x, environment: test}}\ntests: [{name: n, matrix: {actions: [x], agents: [a, b]}, expect: {decision: deny}}]',
  )
  assert.deepEqual(
    agents.agents.map(({ value }) => value),
    [
      { identity: 'agent', environment: 'live' },
      { identity: 'x', environment: 'test' },
    ],
  )
})

test('load: the clock of a test goes before that of its file', () => {
  const text = (now: string) =>
    `now: 2026-02-01T00:00:00Z\ntests: [{name: n, ${now}matrix: {actions: [x]}, expect: {decision: deny}}]`
  assert.equal(onlyTest(text('')).nowMs, Date.parse('2026-02-01T00:00:00Z'))
  assert.equal(onlyTest(text('now: "2026-03-01T01:00:00+01:00", ')).nowMs, Date.parse('2026-03-01T00:00:00Z'))
})

/** Combinations with the expectations that select them, each named by its `reason`. */
const FORMS: { name: string; expect: string; selects: Record<string, string[]> }[] = [
  {
    name: 'one for all',
    expect: '{decision: deny, reason: r}',
    selects: { 'x, context a': ['r'], 'x, context b': ['r'], 'y.z, context a': ['r'], 'y.z, context b': ['r'] },
  },
  {
    name: 'by context',
    expect: '{a: {decision: deny, reason: r}}',
    selects: { 'x, context a': ['r'], 'x, context b': [], 'y.z, context a': ['r'], 'y.z, context b': [] },
  },
  {
    name: 'a list',
    expect:
      '[{decision: deny, reason: all}, {action: x, decision: deny, reason: x}, {action: "y.*", context: b, decision: deny, reason: y}]',
    selects: {
      'x, context a': ['all', 'x'],
      'x, context b': ['all', 'x'],
      'y.z, context a': ['all'],
      'y.z, context b': ['all', 'y'],
    },
  },
]
for (const { name, expect, selects } of FORMS) {
  test(`load: expectations as ${name}`, () => {
    const one = onlyTest(
      `contexts: {a: {}, b: {}}\ntests: [{name: n, matrix: {actions: [x, y.z], contexts: [a, b]}, expect: ${expect}}]`,
    )
    const found = casesOf(one).map((asked) => [
      combinationText(asked),
      asked.expectations.map(({ wanted }) => wanted.reason),
    ])
    assert.deepEqual(Object.fromEntries(found), selects)
  })
}

test('load: a context may be called like a member of an expectation', () => {
  const named = (expect: string) =>
    onlyTest(
      `contexts: {decision: {}, risk: {}}\ntests: [{name: n, matrix: {actions: [x], contexts: [decision, risk]}, expect: ${expect}}]`,
    )
  const contexts = (one: PolicyTest) => one.expectations.map(({ selector }) => selector.context)
  assert.deepEqual(contexts(named('{decision: {decision: deny}, risk: {decision: allow}}')), ['decision', 'risk'])
  assert.deepEqual(contexts(named('{decision: deny, risk: {max: 3}}')), [undefined])
})

test('load: an item of a list may select by plan and agent', () => {
  const fixtures = 'plans: {p: {}, q: {}}\nagents: {g: {}, h: {}}\n'
  const expect = '[{plan: p, decision: deny, reason: p}, {agent: h, decision: deny, reason: h}]'
  const one = onlyTest(
    `${fixtures}tests: [{name: n, matrix: {actions: [x], plans: [p, q], agents: [g, h]}, expect: ${expect}}]`,
  )
  const found = casesOf(one).map((asked) => [
    combinationText(asked),
    asked.expectations.map(({ wanted }) => wanted.reason).join(),
  ])
  assert.deepEqual(Object.fromEntries(found), {
    'x, plan p, agent g': 'p',
    'x, plan p, agent h': 'p,h',
    'x, plan q, agent g': '',
    'x, plan q, agent h': 'h',
  })
})

test(`load: more than ${LIMITS.expectationsPerTest} expectations of one test are refused, in any form, and in no time`, () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `c${i}`)
  const file = (expect: string): string =>
    `${HEADER}contexts: {${names.map((name) => `${name}: {}`).join(', ')}}\ntests:\n  - name: n\n    matrix: {actions: [x], contexts: [${names.join(', ')}]}\n    expect: ${expect}\n`
  for (const expect of [
    `[${names.map(() => '{decision: deny}').join(', ')}]`,
    `{${names.map((name) => `${name}: {decision: deny}`).join(', ')}}`,
  ]) {
    const started = processorMs()
    const found = diagnose(file(expect))
    assert.deepEqual(
      found.map(({ code, path }) => [code, path]),
      [['GATE1503', '$.tests[0].expect']],
    )
    assert.ok(processorMs() - started < 5000)
  }
})
