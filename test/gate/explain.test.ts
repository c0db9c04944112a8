import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../src/base/json.ts'
import { DECIDED_BY } from '../../src/gate/decide.ts'
import { type ExplainedCondition, type Explanation, explanationOf, MAX_EXPLAINED } from '../../src/gate/explain.ts'
import { MAX_CONDITIONS } from '../../src/gate/explain-condition.ts'
import { NO_HISTORY } from '../../src/gate/history.ts'
import { type Judgement, judge } from '../../src/gate/judge.ts'
import { MAX_SHOWN } from '../../src/gate/shown.ts'
import { allTruths, anyTruth, notTruth } from '../../src/policies/kleene.ts'
import type { PolicySet, Truth } from '../../src/policies/set.ts'
import { setOf } from '../authoring/sources.ts'

const ACTION = 'pay.out'

async function explained(
  set: PolicySet | undefined,
  context: JsonObject = {},
  killSwitchReason?: string,
): Promise<{ judgement: Judgement; why: Explanation }> {
  const who = { tenant: 'acme', environment: 'live', agent: 'bot' } as const
  const judgement = await judge({
    set,
    killSwitchReason,
    ...who,
    nowMs: 0,
    action: ACTION,
    context,
    plan: undefined,
    history: NO_HISTORY,
  })
  return { judgement, why: explanationOf(set, ACTION, judgement) }
}

function rule(id: string, effect: string, when?: string): string {
  return `  - {id: ${id}, actions: ["pay.*"], effect: ${effect}, reason: R.${when === undefined ? '' : `, when: ${when}`}}\n`
}

const ABOVE = (limit: number) => `{fact: context.amount, operator: greaterThan, value: ${limit}}`
const POLICY = setOf(`thresholds: {requireApproval: 40, deny: 80}
domains: {finance: ["pay.*"]}
actions: {pay.out: {context: {type: object, properties: {amount: {type: number, maximum: 100}}}}}
risk: [{name: size, actions: ["pay.*"], weight: 90, when: {fact: context.scaled, operator: exists}, scale: {fact: context.scaled, from: 0, to: 10}}]
rules:
${rule('small', 'allow', '{not: {fact: context.amount, operator: greaterThan, value: 10}}')}${rule('huge', 'deny', ABOVE(50))}${rule('large', 'require_approval', ABOVE(20))}`)

/** Each step of the order of decision, with the rules in the order in which they are explained; a star is the one that decides. */
const STEPS: [
  decidedBy: string,
  set: PolicySet | undefined,
  context: JsonObject,
  stop: string | undefined,
  rules: string,
][] = [
  ['kill_switch', POLICY, { amount: 60 }, 'Stopped.', 'huge:yes large:yes small:no'],
  ['kill_switch', undefined, {}, 'Stopped.', ''],
  ['no_policy', undefined, {}, undefined, ''],
  ['invalid_context', POLICY, { amount: 200 }, undefined, 'huge:yes large:yes small:no'],
  ['deny_rule', POLICY, { amount: 60 }, undefined, '*huge:yes large:yes small:no'],
  ['deny_rule', POLICY, {}, undefined, '*huge:yes large:yes small:no'],
  ['risk', POLICY, { amount: 30, scaled: 9 }, undefined, 'large:yes small:no huge:no'],
  ['hold_rule', POLICY, { amount: 30, scaled: 1 }, undefined, '*large:yes small:no huge:no'],
  ['risk', POLICY, { amount: 1, scaled: 5 }, undefined, 'small:yes huge:no large:no'],
  ['allow_rule', POLICY, { amount: 1 }, undefined, '*small:yes huge:no large:no'],
  ['default', POLICY, { amount: 15 }, undefined, 'small:no huge:no large:no'],
]

for (const [decidedBy, set, context, stop, rules] of STEPS) {
  test(`explanation: ${decidedBy} ${JSON.stringify(context)}`, async () => {
    const { judgement, why } = await explained(set, context, stop)
    assert.equal(judgement.outcome.decidedBy, decidedBy)
    const told = why.rules.map(({ id, matches, decides }) => `${decides ? '*' : ''}${id}:${matches ? 'yes' : 'no'}`)
    assert.equal(told.join(' '), rules)
    assert.equal(why.killSwitch, stop ?? null)
    assert.equal(why.domain, set === undefined ? null : 'finance')
    assert.deepEqual(why.thresholds, set === undefined ? null : { requireApproval: 40, deny: 80 })
    assert.equal(why.request.fault !== null, context.amount === 200)
    assert.deepEqual(
      why.factors.map(({ contribution }) => contribution),
      set === undefined ? [] : judgement.risk.factors.map(({ contribution }) => contribution),
    )
  })
}

test('explanation: every way to decide but an approval, which is no matter of policy, is told', () => {
  const told = new Set(STEPS.map(([decidedBy]) => decidedBy))
  assert.deepEqual(
    DECIDED_BY.filter((step) => !told.has(step)),
    ['approval'],
  )
})

test('explanation: every comparison with fact, operator, value wanted and seen, outcome and place', async () => {
  const set = setOf(`conditions:
  big: {fact: context.amount, operator: greaterThan, value: 20}
rules:
  - id: r
    actions: [pay.out]
    effect: deny
    reason: R.
    when:
      any:
        - condition: big
        - all:
            - {not: {fact: context.who, operator: equal, value: ann}}
            - {fact: context.tags, operator: exists}
            - condition: big
risk: [{name: size, actions: [pay.out], weight: 10, scale: {fact: context.amount, from: 0, to: 100}}]
`)
  const { why } = await explained(set, { amount: 5 })
  const file = 'acme/main.yaml'
  const big = { kind: 'condition', outcome: 'false', name: 'big', file, line: 4, leftOut: 0 }
  const missing = { kind: 'leaf', fact: 'context.who', operator: 'equal', wanted: { value: 'ann' }, seen: null }
  assert.deepEqual(why.rules[0]?.condition, {
    kind: 'any',
    outcome: 'false',
    leftOut: 0,
    conditions: [
      {
        ...big,
        conditions: [
          {
            kind: 'leaf',
            outcome: 'false',
            fact: 'context.amount',
            operator: 'greaterThan',
            wanted: { value: 20 },
            seen: { value: 5 },
            file,
            line: 4,
          },
        ],
      },
      {
        kind: 'all',
        outcome: 'false',
        leftOut: 0,
        conditions: [
          {
            kind: 'not',
            outcome: 'unknown',
            leftOut: 0,
            conditions: [{ ...missing, outcome: 'unknown', file, line: 14 }],
          },
          {
            kind: 'leaf',
            outcome: 'false',
            fact: 'context.tags',
            operator: 'exists',
            wanted: { value: true },
            seen: null,
            file,
            line: 15,
          },
          { ...big, conditions: [] },
        ],
      },
    ],
  })
  assert.deepEqual(why.factors[0]?.scale, { fact: 'context.amount', from: 0, to: 100, seen: { value: 5 } })
  assert.equal(why.factors[0]?.condition, undefined)
})

test('explanation: a repeated name is shown once in each rule, and again in the next', async () => {
  const set = setOf(
    `conditions: {big: ${ABOVE(20)}}\nrules:\n${rule('a', 'deny', '{all: [{condition: big}, {condition: big}]}')}${rule('b', 'deny', '{condition: big}')}`,
  )
  const { why } = await explained(set, { amount: 30 })
  const sizes = why.rules.map(({ condition }) => nodesOf(condition).map((node) => node.kind))
  assert.deepEqual(sizes, [
    ['all', 'condition', 'leaf', 'condition'],
    ['condition', 'leaf'],
  ])
})

function nodesOf(condition: ExplainedCondition | undefined): ExplainedCondition[] {
  if (condition === undefined) return []
  return condition.kind === 'leaf' ? [condition] : [condition, ...condition.conditions.flatMap(nodesOf)]
}

const LAYERS = Array.from(
  { length: 29 },
  (_, i) => `  c${i}: {all: [{condition: c${i + 1}}, {condition: c${i + 1}}]}\n`,
)
const MANY_LEAVES = Array.from({ length: 5000 }, (_, i) => `{fact: context.n${i}, operator: equal, value: ${i}}`).join(
  ', ',
)
const LONG = 'x'.repeat(300_000)

const LARGE: [name: string, policy: string, context: JsonObject][] = [
  [
    'a context of many values',
    `rules:\n${rule('r', 'deny', '{fact: context.list, operator: doesNotContain, value: 1}')}`,
    { list: Array.from({ length: 100_000 }, () => 2) },
  ],
  [
    'a context of one long text',
    `rules:\n${rule('r', 'deny', '{fact: context.text, operator: notEqual, value: x}')}`,
    { text: LONG },
  ],
  [
    'a long value wanted',
    `rules:\n${rule('r', 'deny', `{fact: context.text, operator: notEqual, value: ${LONG}}`)}`,
    { text: 'x' },
  ],
  [
    '10,000 rules',
    `conditions: {c: ${ABOVE(1)}}\nrules:\n${Array.from({ length: 10_000 }, (_, i) => rule(`r${i}`, i === 7777 ? 'deny' : 'allow', '{condition: c}')).join('')}`,
    { amount: 9000 },
  ],
  ['5,000 comparisons in a rule', `rules:\n${rule('r', 'deny', `{any: [${MANY_LEAVES}]}`)}`, { n4999: 4999 }],
  [
    'named conditions that unfold without measure',
    `conditions:\n${LAYERS.join('')}  c29: ${ABOVE(1)}\nrules:\n${rule('r', 'deny', '{condition: c0}')}`,
    { amount: 5 },
  ],
  [
    'many rules that share a large condition',
    `conditions:\n  c: {any: [${MANY_LEAVES}]}\nrules:\n${Array.from({ length: 20 }, (_, i) => rule(`r${i}`, 'deny', '{condition: c}')).join('')}`,
    {},
  ],
]

for (const [name, policy, context] of LARGE) {
  test(`explanation: bounded for ${name}`, async () => {
    const set = setOf(policy)
    const { judgement, why } = await explained(set, context)
    const nodes = why.rules.flatMap(({ condition }) => nodesOf(condition))
    assert.ok(nodes.length <= MAX_CONDITIONS + MAX_EXPLAINED, `${nodes.length} conditions`)
    assert.ok(why.rules.length <= MAX_EXPLAINED)
    assert.equal(why.rules.length + why.rulesLeftOut, judgement.evaluation?.rules.length)
    assert.ok(JSON.stringify(why).length < 250_000)
    assert.equal(why.rules[0]?.decides, true, 'the deciding rule is first')
  })
}

test('explanation: a value that is long is shown by its beginning, and how long it is', async () => {
  const set = setOf(`rules:\n${rule('r', 'deny', '{fact: context.text, operator: equal, value: x}')}`)
  const { why } = await explained(set, { text: `${'x'.repeat(MAX_SHOWN - 2)}\u{1f600}${'x'.repeat(1000)}` })
  const [leaf] = nodesOf(why.rules[0]?.condition)
  // A character of two halves is not cut in two.
  assert.deepEqual(leaf?.kind === 'leaf' && leaf.seen, { beginning: `"${'x'.repeat(MAX_SHOWN - 2)}`, characters: 1202 })
})

test('explanation: of too many comparisons those are shown that make the outcome what it is', async () => {
  const set = setOf(`rules:\n${rule('r', 'deny', `{any: [${MANY_LEAVES}]}`)}`)
  const { why } = await explained(
    set,
    Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`n${i}`, i === 4321 ? i : -1])),
  )
  const [any, first] = nodesOf(why.rules[0]?.condition)
  assert.equal(any?.outcome, 'true')
  assert.deepEqual(first?.kind === 'leaf' && [first.fact, first.outcome], ['context.n4321', 'true'])
  assert.equal(any?.kind === 'any' && any.leftOut, 5000 - (MAX_CONDITIONS - 1))
})

const leaf = fc
  .tuple(
    fc.constantFrom('a', 'b', 'c'),
    fc.constantFrom('equal', 'not:equal', 'greaterThan', 'exists', 'missing'),
    fc.integer({ min: 0, max: 2 }),
  )
  .map(([fact, operator, value]) => ({
    fact: `context.${fact}`,
    operator,
    ...(operator !== 'exists' && operator !== 'missing' && { value }),
  }))
const tree = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.record({ all: fc.array(tie('node'), { minLength: 1, maxLength: 4 }) }),
    fc.record({ any: fc.array(tie('node'), { minLength: 1, maxLength: 4 }) }),
    fc.record({ not: tie('node') }),
    fc.constantFrom({ condition: 'one' }, { condition: 'two' }),
  ),
})).node
const contexts = fc.dictionary(
  fc.constantFrom('a', 'b', 'c'),
  fc.oneof(fc.integer({ min: 0, max: 2 }), fc.constant('x'), fc.constant(null)),
)

/** Returns the outcome that follows from the conditions shown below; undefined when not all are shown. */
function refolded(node: ExplainedCondition, named: Map<string, Truth>): Truth | undefined {
  if (node.kind === 'leaf') return node.outcome
  if (node.kind === 'condition') {
    if (node.conditions.length === 0) return named.get(node.name)
    const [target] = node.conditions.map((one) => refolded(one, named))
    if (target !== undefined) named.set(node.name, target)
    return target
  }
  const below = node.conditions.map((one) => refolded(one, named))
  const known = below.filter((truth) => truth !== undefined)
  if (node.leftOut > 0 || known.length < below.length) return undefined
  if (node.kind === 'not') return notTruth(known[0] ?? 'unknown')
  return node.kind === 'all' ? allTruths(known) : anyTruth(known)
}

test('explanation: what is shown below a condition makes it what it is shown to be, and rules what they were', async () => {
  const effects = fc.constantFrom('allow', 'deny', 'require_approval')
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(effects, tree), { minLength: 1, maxLength: 4 }),
      tree,
      leaf,
      contexts,
      async (rules, one, two, context) => {
        const text = rules.map(([effect, when], i) => rule(`r${i}`, effect, JSON.stringify(when)))
        const flat = JSON.stringify(one).replaceAll(/\{"condition":"(one|two)"\}/g, '{"condition":"two"}')
        const set = setOf(`conditions: {one: ${flat}, two: ${JSON.stringify(two)}}\nrules:\n${text.join('')}`)
        const { judgement, why } = await explained(set, context)
        for (const {
          rule: { id },
          outcome,
        } of judgement.evaluation?.rules ?? []) {
          const told = why.rules.find((candidate) => candidate.id === id)
          assert.equal(told?.outcome, outcome)
          assert.equal(told?.condition?.outcome, outcome)
        }
        for (const { condition } of why.rules) {
          for (const node of nodesOf(condition)) {
            if (node.kind !== 'leaf') assert.equal(refolded(node, new Map(namedIn(condition))), node.outcome)
          }
        }
        assert.equal(why.rules.filter(({ decides }) => decides).length, judgement.outcome.rule === null ? 0 : 1)
      },
    ),
    { numRuns: 150 },
  )
})

/** The named conditions of a rule as they are shown there. */
function namedIn(condition: ExplainedCondition | undefined): [string, Truth][] {
  return nodesOf(condition).flatMap((node): [string, Truth][] =>
    node.kind === 'condition' && node.conditions.length > 0 ? [[node.name, node.outcome]] : [],
  )
}
