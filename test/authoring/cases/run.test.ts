import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileAndTest } from '../../../src/authoring/cases/accept.ts'
import { type Case, casesOf, combinationText } from '../../../src/authoring/cases/cases.ts'
import { differenceText } from '../../../src/authoring/cases/differences.ts'
import { parseFilter, passes } from '../../../src/authoring/cases/filter.ts'
import { runCase } from '../../../src/authoring/cases/run.ts'
import type { PolicySource } from '../../../src/authoring/load/files.ts'
import { LIMITS } from '../../../src/authoring/load/limits.ts'
import { NO_HISTORY } from '../../../src/gate/history.ts'
import { judge } from '../../../src/gate/judge.ts'
import { HEADER, load } from '../sources.ts'

const POLICY = `${HEADER}
facts: {context.amount: {type: number}, context.country: {type: string}, plan.action: {type: string}}
actions: {payment.transfer: {context: {type: object, properties: {amount: {type: number}}}}}
risk:
  - {name: amount, actions: ["payment.*"], weight: 50, scale: {fact: context.amount, from: 0, to: 100}}
  - {name: night, actions: ["**"], weight: 20, when: {fact: time.hour, operator: lessThan, value: 6}}
rules:
  - {id: abroad, actions: [payment.transfer], effect: deny, reason: Abroad., when: {fact: context.country, operator: notEqual, value: DE}}
  - {id: large, actions: [payment.transfer], effect: require_approval, reason: Large., when: {fact: context.amount, operator: greaterThan, value: 50}}
  - {id: tests, actions: [payment.transfer], effect: allow, reason: In test., when: {fact: environment, operator: equal, value: test}}
  - {id: planned, actions: [payment.transfer], effect: allow, reason: Planned., when: {fact: plan.action, operator: equal, value: payment.transfer}}
  - {id: bot, actions: [payment.transfer], effect: allow, reason: The bot may., when: {fact: agent, operator: equal, value: bot}}
  - {id: refund, actions: [refund.pay], effect: require_approval, reason: Refund., approval: {quorum: 2, approvers: [treasury, audit]}}
  - {id: operations, actions: [refund.pay], effect: require_approval, reason: Refund., when: {fact: environment, operator: equal, value: live}, approval: {approvers: [operations, audit]}}
  - {id: mail, actions: [mail.send], effect: allow, reason: Mail.}
`

const FIXTURES = `${HEADER}now: "2026-01-14T10:00:00Z"
contexts: {small: {amount: 10, country: DE}, large: {amount: 60, country: DE}, abroad: {amount: 10, country: US}, nowhere: {amount: 10}, bad: {amount: x}}
plans: {good: {action: payment.transfer}, other: {action: mail.send}}
agents: {bot: {identity: bot}, tester: {environment: test}}
`

function testsOf(text: string, policy = POLICY) {
  const { set, tests, diagnostics } = load({ 'main.yaml': policy, 'a.test.yaml': text })
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  assert.deepEqual(errors, [])
  return { set: set ?? assert.fail(), tests }
}

/** The differences of one case, in words; none when what is expected holds. */
const EXPECTATIONS: { matrix: string; expect: string; now?: string; differences: string[] }[] = [
  {
    matrix: 'actions: [mail.send]',
    expect:
      '{decision: allow, rule: mail, rules: [mail], decidedBy: allow_rule, retry: never, reason: Mail., risk: {score: 0}, unevaluable: []}',
    differences: [],
  },
  {
    matrix: 'actions: [refund.pay]',
    expect: '{decision: require_approval, quorum: 2, approvers: [[operations, audit], [audit, treasury]]}',
    differences: [],
  },
  {
    matrix: 'actions: [refund.pay], agents: [tester]',
    expect: '{decision: require_approval, quorum: 1, approvers: [treasury]}',
    differences: ['quorum is 2, wanted 1', 'approvers is audit or treasury, wanted treasury'],
  },
  {
    matrix: 'actions: [refund.pay]',
    expect: '{decision: require_approval, approvers: []}',
    differences: ['approvers is audit or treasury, audit or operations, wanted none'],
  },
  {
    matrix: 'actions: [mail.send]',
    expect: '{decision: allow, quorum: 1, approvers: [treasury]}',
    differences: ['quorum is none, wanted 1', 'approvers is none, wanted treasury'],
  },
  { matrix: 'actions: [mail.send]', expect: '{decision: deny}', differences: ['decision is allow, wanted deny'] },
  {
    matrix: 'actions: [mail.send]',
    expect: '{decision: allow, rule: null}',
    differences: ['rule is mail, wanted none'],
  },
  {
    matrix: 'actions: [robot.move]',
    expect: '{decision: deny, rule: mail}',
    differences: ['rule is none, wanted mail'],
  },
  {
    matrix: 'actions: [robot.move]',
    expect: '{decision: deny, rule: null, decidedBy: default, rules: []}',
    differences: [],
  },
  {
    matrix: 'actions: [mail.send]',
    expect: '{decision: allow, rules: []}',
    differences: ['rules is mail, wanted none'],
  },
  {
    matrix: 'actions: [payment.transfer], contexts: [large], plans: [good], agents: [bot]',
    expect: '{decision: require_approval, rule: large, rules: [bot, planned, large], retry: after_approval}',
    differences: [],
  },
  {
    matrix: 'actions: [payment.transfer], contexts: [large], agents: [bot]',
    expect: '{decision: require_approval, rules: [large]}',
    differences: ['rules is large, bot, wanted large'],
  },
  {
    matrix: 'actions: [payment.transfer], contexts: [small], agents: [bot]',
    expect: '{decision: allow, reason: The bot can.}',
    differences: ['reason is The bot may., wanted The bot can.'],
  },
  {
    matrix: 'actions: [payment.transfer], contexts: [small], agents: [bot]',
    expect: '{decision: allow, retry: changed_request, decidedBy: risk}',
    differences: ['decidedBy is allow_rule, wanted risk', 'retry is never, wanted changed_request'],
  },
  {
    matrix: 'actions: [payment.transfer], contexts: [small], agents: [bot]',
    expect: '{decision: allow, risk: {score: 5}, factors: {amount: 5, night: 0}}',
    differences: [],
  },
  {
    matrix: 'actions: [payment.transfer], contexts: [small], agents: [bot]',
    expect: '{decision: allow, risk: {min: 5, max: 5}, factors: {amount: {min: 5}, night: {max: 0}}}',
    differences: [],
  },
  {
    matrix: 'actions: [payment.transfer], contexts: [small], agents: [bot]',
    expect: '{decision: allow, risk: {min: 5.1}, factors: {amount: {max: 4.9}, night: 1}}',
    differences: [
      'risk is 5, wanted at least 5.1',
      'factors.amount is 5, wanted at most 4.9',
      'factors.night is 0, wanted 1',
    ],
  },
  {
    matrix: 'actions: [mail.send]',
    expect: '{decision: allow, risk: {min: 1, max: 2}, factors: {amount: {min: 1}}}',
    differences: ['risk is 0, wanted 1 to 2', 'factors.amount is 0, wanted at least 1'],
  },
  {
    matrix: 'actions: [mail.send]',
    now: '2026-01-14T05:00:00Z',
    expect: '{decision: allow, risk: {score: 20}, factors: {night: 20}}',
    differences: [],
  },
  {
    matrix: 'actions: [payment.transfer], contexts: [nowhere], agents: [bot]',
    expect: '{decision: deny, rule: abroad, rules: [bot], unevaluable: [abroad, planned]}',
    differences: [],
  },
  {
    matrix: 'actions: [payment.transfer], agents: [bot]',
    expect: '{decision: deny, unevaluable: [abroad]}',
    differences: ['unevaluable is abroad, large, planned, amount, wanted abroad'],
  },
  {
    matrix: 'actions: [payment.transfer], contexts: [bad]',
    expect: '{decision: deny, decidedBy: invalid_context, retry: changed_request}',
    differences: [],
  },
  {
    matrix: 'actions: [payment.transfer], contexts: [small], plans: [good]',
    expect: '{decision: allow, rule: planned}',
    differences: [],
  },
  {
    matrix: 'actions: [payment.transfer], contexts: [small], plans: [other]',
    expect: '{decision: deny, decidedBy: invalid_context}',
    differences: [],
  },
  {
    matrix: 'actions: [payment.transfer], contexts: [small], agents: [tester]',
    expect: '{decision: allow, rule: tests}',
    differences: [],
  },
  {
    matrix: 'actions: [payment.transfer], contexts: [small]',
    expect: '[{action: "payment.*", decision: deny}, {context: small, decision: deny, rule: bot}]',
    differences: ['rule is none, wanted bot'],
  },
  {
    matrix: 'actions: [mail.send, robot.move]',
    expect: '[{action: robot.move, decision: deny}]',
    differences: ['decision is allow, wanted deny'],
  },
]
for (const { matrix, expect, now, differences } of EXPECTATIONS) {
  test(`run: {${matrix}} ${expect}`, async () => {
    const clock = now === undefined ? '' : `    now: "${now}"\n`
    const { set, tests } = testsOf(
      `${FIXTURES}tests:\n  - name: n\n${clock}    matrix: {${matrix}}\n    expect: ${expect}\n`,
    )
    const results = await Promise.all(tests.flatMap(casesOf).map((asked) => runCase(set, asked)))
    assert.deepEqual(
      results.flatMap((result) => result.differences.map(differenceText)),
      differences,
    )
  })
}

function sourceOf(files: Record<string, string>): PolicySource {
  const all = Object.entries(files).map(([name, text]) => ({ name, bytes: Buffer.from(text) }))
  return { tenant: 'acme', files: all, lists: new Map(), ignored: [] }
}

test('accept: every expectation that a case does not meet is an error at its place; the set has no data then', async () => {
  const text = `${FIXTURES}tests:
  - name: one "two"
    matrix: {actions: [payment.transfer], contexts: [small, large], plans: [good]}
    expect:
      - {decision: allow, risk: {max: 1}}
      - {context: large, decision: require_approval, rule: large}
      - {context: small, decision: deny, rule: null}
  - name: nothing is listed
    matrix: {actions: [mail.send, robot.move]}
    expect: [{action: robot.move, decision: deny}]
  - name: left out
    skip: Later.
    matrix: {actions: [mail.send]}
    expect: {decision: deny}
`
  const { data, diagnostics } = await compileAndTest(sourceOf({ 'main.yaml': POLICY, 'a.test.yaml': text }))
  assert.equal(data, undefined)
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  assert.deepEqual(
    errors.map(({ code, file, line, column, path, message }) => [code, `${file}:${line}:${column}`, path, message]),
    [
      [
        'GATE1506',
        'acme/a.test.yaml:11:9',
        '$.tests[0].expect[0]',
        'Test "one \\"two\\"" fails for payment.transfer, context large, plan good: decision is require_approval, wanted allow; risk is 30, wanted at most 1.',
      ],
      [
        'GATE1506',
        'acme/a.test.yaml:11:9',
        '$.tests[0].expect[0]',
        'Test "one \\"two\\"" fails for payment.transfer, context small, plan good: risk is 5, wanted at most 1.',
      ],
      [
        'GATE1506',
        'acme/a.test.yaml:13:9',
        '$.tests[0].expect[2]',
        'Test "one \\"two\\"" fails for payment.transfer, context small, plan good: decision is allow, wanted deny; rule is planned, wanted none.',
      ],
      [
        'GATE1506',
        'acme/a.test.yaml:16:5',
        '$.tests[1].expect',
        'Test "nothing is listed" fails for mail.send: decision is allow, wanted deny.',
      ],
    ],
  )
})

test('accept: tests that pass leave the set as it is compiled without them', async () => {
  const files = {
    'main.yaml': POLICY,
    'a.test.yaml': `${HEADER}tests: [{name: n, matrix: {actions: [mail.send]}, expect: {decision: allow}}]\n`,
  }
  const { data, diagnostics } = await compileAndTest(sourceOf(files))
  const without = await compileAndTest(sourceOf({ 'main.yaml': POLICY }))
  assert.deepEqual([data, diagnostics], [without.data, without.diagnostics])
})

test(`accept: tests that ask more than ${LIMITS.comparisonsOfTests} comparisons are an error, and are not run`, async () => {
  const rules = Array.from({ length: 3100 }, (_, i) => `  - {id: r${i}, actions: [x], effect: allow, reason: R.}`)
  const contexts = Array.from({ length: 100 }, (_, i) => `c${i}`)
  const file = (n: number, more: string): string =>
    `${HEADER}contexts: {${contexts.map((name) => `${name}: {}`).join(', ')}}\nhistories: {h: [], i: []}\ntests:\n  - {name: n, matrix: {actions: [x], contexts: [${contexts.slice(0, n).join(', ')}]${more}}, expect: {decision: allow}}\n`
  const codes = async (n: number, more = '') => {
    const source = sourceOf({ 'main.yaml': `${HEADER}rules:\n${rules.join('\n')}\n`, 'a.test.yaml': file(n, more) })
    const { diagnostics } = await compileAndTest(source)
    return diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code)
  }
  assert.deepEqual(await codes(96), [])
  assert.deepEqual(await codes(97), ['GATE1509'])
  assert.deepEqual(await codes(49, ', histories: [h, i]'), ['GATE1509'])
})

const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 4 })
const matrices = fc.record({
  actions: fc.uniqueArray(fc.constantFrom('payment.transfer', 'mail.send', 'robot.move'), { minLength: 1 }),
  contexts: fc.option(names, { nil: undefined }),
  plans: fc.option(names, { nil: undefined }),
  agents: fc.option(names, { nil: undefined }),
})

test('property: a matrix gives each combination of its dimensions exactly once', () => {
  fc.assert(
    fc.property(matrices, ({ actions, ...dimensions }) => {
      const written = Object.entries(dimensions).flatMap(([name, list]) =>
        list === undefined ? [] : [`${name}: [${list}]`],
      )
      const fixtures = ['contexts', 'plans', 'agents'].map((name) => `${name}: {a: {}, b: {}, c: {}, d: {}}`).join('\n')
      const { tests } = testsOf(
        `${HEADER}${fixtures}\ntests:\n  - {name: n, matrix: {actions: [${actions}], ${written.join(', ')}}, expect: {decision: deny}}\n`,
      )
      const found = tests
        .flatMap(casesOf)
        .map(({ action, context, plan, agent }) => JSON.stringify([action, context.name, plan.name, agent.name]))
      const { contexts = [null], plans = [null], agents = [null] } = dimensions
      const wanted = actions.flatMap((action) =>
        contexts.flatMap((c) => plans.flatMap((p) => agents.map((g) => JSON.stringify([action, c, p, g])))),
      )
      assert.equal(new Set(found).size, found.length)
      assert.deepEqual([...found].sort(), [...wanted].sort())
    }),
    { numRuns: 60 },
  )
})

test('property: a case is judged as the same request is, and differs exactly where the expectation does', async () => {
  const contexts = fc.record(
    { amount: fc.constantFrom(0, 10, 60, 200), country: fc.constantFrom('DE', 'US') },
    { requiredKeys: [] },
  )
  const wants = fc.record({
    decision: fc.constantFrom('allow', 'deny', 'require_approval'),
    rule: fc.constantFrom('bot', 'large', null),
    score: fc.constantFrom(0, 5, 30, 50),
  })
  const asks = fc.record({
    context: contexts,
    identity: fc.constantFrom('bot', 'ann'),
    environment: fc.constantFrom('live' as const, 'test' as const),
    hour: fc.integer({ min: 0, max: 23 }),
    wanted: wants,
  })
  await fc.assert(
    fc.asyncProperty(asks, async ({ context, identity, environment, hour, wanted }) => {
      const now = `2026-01-14T${String(hour).padStart(2, '0')}:00:00Z`
      const { set, tests } = testsOf(`${HEADER}contexts: {c: ${JSON.stringify(context)}}
agents: {g: {identity: ${identity}, environment: ${environment}}}
tests:
  - {name: n, now: "${now}", matrix: {actions: [payment.transfer], contexts: [c], agents: [g]}, expect: {decision: ${wanted.decision}, rule: ${wanted.rule}, risk: {score: ${wanted.score}}}}
`)
      const [asked] = tests.flatMap(casesOf)
      const { judgement, differences } = await runCase(set, asked ?? assert.fail())
      const direct = await judge({
        set,
        killSwitchReason: undefined,
        tenant: 'acme',
        environment,
        agent: identity,
        nowMs: Date.parse(now),
        action: 'payment.transfer',
        context,
        plan: undefined,
        history: NO_HISTORY,
      })
      assert.deepEqual([judgement.outcome, judgement.risk], [direct.outcome, direct.risk])
      const { outcome, risk } = direct
      const differing = [
        ...(outcome.decision === wanted.decision ? [] : ['decision']),
        ...(outcome.rule === wanted.rule ? [] : ['rule']),
        ...(risk.score === wanted.score ? [] : ['risk']),
      ]
      assert.deepEqual(
        differences.map(({ of }) => of),
        differing,
      )
    }),
    { numRuns: 150 },
  )
})

const FILTERS: { filters: string[]; finds: string[] }[] = [
  { filters: ['REFUND'], finds: ['Small refunds/x', 'Small refunds/y.a'] },
  { filters: ['test=payments'], finds: ['Payments/x'] },
  { filters: ['test=small*'], finds: ['Small refunds/x', 'Small refunds/y.a'] },
  { filters: ['l*und'], finds: ['Small refunds/x', 'Small refunds/y.a'] },
  { filters: ['action=y.*'], finds: ['Small refunds/y.a'] },
  { filters: ['action=Y.*'], finds: [] },
  { filters: ['context=c?'], finds: [] },
  { filters: ['context=C'], finds: ['Payments/x'] },
  { filters: ['plan=*'], finds: [] },
  { filters: ['file=acme/*'], finds: ['Payments/x', 'Small refunds/x', 'Small refunds/y.a'] },
  { filters: ['action=x', 'refund'], finds: ['Small refunds/x'] },
  { filters: ['test=payments', 'refund'], finds: ['Payments/x', 'Small refunds/x', 'Small refunds/y.a'] },
  { filters: ['nosuch=x'], finds: [] },
  { filters: [], finds: ['Payments/x', 'Small refunds/x', 'Small refunds/y.a'] },
]
for (const { filters, finds } of FILTERS) {
  test(`filter: ${filters.join(' ') || 'none'}`, () => {
    const { tests } = testsOf(`${HEADER}contexts: {c: {}}
tests:
  - {name: Payments, matrix: {actions: [x], contexts: [c]}, expect: {decision: deny}}
  - {name: Small refunds, matrix: {actions: [x, y.a]}, expect: {decision: deny}}
`)
    const parsed = filters.map((text) => parseFilter(text) ?? assert.fail(text))
    const named = ({ test: { name }, action }: Case): string => `${name}/${action}`
    assert.deepEqual(
      tests
        .flatMap(casesOf)
        .filter((asked) => passes(parsed, asked))
        .map(named),
      finds,
    )
  })
}

test('filter: a pattern of actions that is none is told', () => {
  assert.equal(parseFilter('action=a b'), undefined)
})

test('a combination in words leaves out what the test leaves out', () => {
  const { tests } = testsOf(
    `${FIXTURES}tests: [{name: n, matrix: {actions: [x], plans: [good], agents: [bot]}, expect: {decision: deny}}]`,
  )
  assert.deepEqual(tests.flatMap(casesOf).map(combinationText), ['x, plan good, agent bot'])
})
