import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/base/json.ts'
import { validatePlanAndContext } from '../../src/policies/evaluate.ts'
import type { Truth } from '../../src/policies/set.ts'
import { evaluateContext, setWhen, truthOf } from '../authoring/sets.ts'
import { setOf } from '../authoring/sources.ts'

const TREES: [name: string, when: string, context: JsonObject, outcome: Truth][] = [
  [
    'an exists guard',
    '{all: [{fact: context.a, operator: exists}, {fact: context.a, operator: equal, value: 1}]}',
    {},
    'false',
  ],
  [
    'a missing guard',
    '{any: [{fact: context.a, operator: missing}, {fact: context.a, operator: equal, value: 1}]}',
    {},
    'true',
  ],
  ['not unknown', '{not: {fact: context.a, operator: equal, value: 1}}', {}, 'unknown'],
  [
    'true or unknown',
    '{any: [{fact: context.a, operator: equal, value: 1}, {fact: context.b, operator: equal, value: 1}]}',
    { b: 1 },
    'true',
  ],
  [
    'true and unknown',
    '{all: [{fact: context.a, operator: equal, value: 1}, {fact: context.b, operator: equal, value: 1}]}',
    { b: 1 },
    'unknown',
  ],
  [
    'the same leaf twice',
    '{all: [{fact: context.b, operator: equal, value: 1}, {not: {fact: context.b, operator: equal, value: 1}}]}',
    { b: 1 },
    'false',
  ],
  [
    'one fact, texts and numbers',
    '{any: [{fact: context.b, operator: equal, value: 1}, {fact: context.b, operator: equal, value: "1"}]}',
    { b: '1' },
    'true',
  ],
]

for (const [name, when, context, outcome] of TREES) {
  test(`conditions: ${name}`, async () => assert.equal(await truthOf(setWhen(when), context), outcome))
}

test('conditions: a rule without one always holds', async () => {
  const set = setOf('rules:\n  - {id: r, actions: [a.b], effect: allow, reason: R.}\n')
  const { rules } = await evaluateContext(set, undefined)
  assert.deepEqual(
    rules.map(({ outcome, missing }) => [outcome, missing]),
    [['true', []]],
  )
})

test('conditions: named ones are shared, and cost what they hold, not what they would unfold to', async () => {
  const layers = Array.from(
    { length: 29 },
    (_, i) => `  c${i}: {all: [{condition: c${i + 1}}, {condition: c${i + 1}}]}\n`,
  )
  const set = setWhen(
    '{condition: c0}',
    `conditions:\n${layers.join('')}  c29: {fact: context.a, operator: equal, value: 1}\n`,
  )
  const { rules, truths } = await evaluateContext(set, { a: 1 })
  assert.equal(rules[0]?.outcome, 'true')
  assert.equal(truths.size, 1)
})

test('conditions: what each comparison came to, the facts that it read, and those that were missing', async () => {
  const set = setWhen(
    '{all: [{fact: context.a, operator: equal, value: 1}, {fact: context.b, operator: equal, value: 2}]}',
  )
  const { rules, facts, truths } = await evaluateContext(set, { a: 1 })
  assert.deepEqual(rules[0]?.missing, ['context.b'])
  assert.deepEqual([...facts], [['context.a', 1]])
  assert.deepEqual([...truths.values()], ['true', 'unknown'])
})

test('facts: a default stands in for a missing value and for null, not for a value of the wrong type', async () => {
  const set = setWhen(
    '{fact: context.a, operator: equal, value: x}',
    'facts:\n  context.a: {type: string, default: x}\n',
  )
  assert.equal(await truthOf(set, {}), 'true')
  assert.equal(await truthOf(set, undefined), 'true')
  assert.equal(await truthOf(set, { a: null }), 'true')
  assert.equal(await truthOf(set, { a: 5 }), 'unknown')
})

const FACTORS: [name: string, factor: string, context: JsonObject, outcome: Truth, fraction: number][] = [
  ['weight alone', 'weight: 10', {}, 'true', 1],
  ['when true', 'weight: 10, when: {fact: context.b, operator: equal, value: 1}', { b: 1 }, 'true', 1],
  ['when false', 'weight: 10, when: {fact: context.b, operator: equal, value: 1}', { b: 2 }, 'false', 0],
  ['when unknown', 'weight: 10, when: {fact: context.b, operator: equal, value: 1}', {}, 'unknown', 1],
  ['scale below', 'weight: 10, scale: {fact: context.n, from: 10, to: 20}', { n: 5 }, 'true', 0],
  ['scale between', 'weight: 10, scale: {fact: context.n, from: 10, to: 20}', { n: 12.5 }, 'true', 0.25],
  ['scale above', 'weight: 10, scale: {fact: context.n, from: 10, to: 20}', { n: 99 }, 'true', 1],
  ['scale missing', 'weight: 10, scale: {fact: context.n, from: 10, to: 20}', {}, 'unknown', 1],
  ['scale mistyped', 'weight: 10, scale: {fact: context.n, from: 10, to: 20}', { n: '12' }, 'unknown', 1],
  [
    'when false, scale missing',
    'weight: 10, when: {fact: context.b, operator: equal, value: 1}, scale: {fact: context.n, from: 1, to: 2}',
    { b: 2 },
    'false',
    0,
  ],
  [
    'when unknown, scale low',
    'weight: 10, when: {fact: context.b, operator: equal, value: 1}, scale: {fact: context.n, from: 1, to: 2}',
    { n: 1 },
    'unknown',
    1,
  ],
]

for (const [name, factor, context, outcome, fraction] of FACTORS) {
  test(`factors: ${name}`, async () => {
    const { factors } = await evaluateContext(setOf(`risk:\n  - {name: f, actions: [a.b], ${factor}}\n`), context)
    assert.deepEqual([factors[0]?.outcome, factors[0]?.fraction], [outcome, fraction])
  })
}

const SCHEMAS = `actions:
  a.b:
    context: {type: object, required: [amount], properties: {amount: {type: number}, tags: {type: array, items: {type: string}}}}
    plan: {type: object, required: [action, steps]}
  a.d: {}
`
const SUBMISSIONS: [
  name: string,
  action: string,
  context: JsonObject | undefined,
  plan: JsonObject | undefined,
  wanted: object,
][] = [
  ['both fit', 'a.b', { amount: 1 }, { action: 'a.b', steps: [] }, { ok: true }],
  [
    'context absent',
    'a.b',
    undefined,
    { action: 'a.b', steps: [] },
    { ok: false, fault: 'context.amount is required' },
  ],
  ['context of another type', 'a.b', { amount: '1' }, undefined, { ok: false, fault: 'context.amount must be number' }],
  [
    'a member of a list',
    'a.b',
    { amount: 1, tags: ['x', 2] },
    undefined,
    { ok: false, fault: 'context.tags.1 must be string' },
  ],
  ['plan absent', 'a.b', { amount: 1 }, undefined, { ok: true }],
  ['plan without a required member', 'a.b', { amount: 1 }, {}, { ok: false, fault: 'plan.action is required' }],
  [
    'plan of another action',
    'a.b',
    { amount: 1 },
    { action: 'a.c', steps: [] },
    { ok: false, fault: 'plan.action names another action than the request' },
  ],
  ['a declared action without schemas', 'a.d', undefined, undefined, { ok: true }],
  ['a plan that names no action', 'a.d', undefined, { steps: [] }, { ok: false }],
  ['undeclared action', 'a.c', undefined, undefined, { ok: false }],
  ['undeclared action, its own plan', 'a.c', undefined, { action: 'a.c' }, { ok: false }],
  [
    'undeclared action, another plan',
    'a.c',
    undefined,
    { action: 'a.b' },
    { ok: false, fault: 'plan.action names another action than the request' },
  ],
]

for (const [name, action, context, plan, wanted] of SUBMISSIONS) {
  test(`validatePlanAndContext: ${name}`, () => {
    assert.deepEqual(validatePlanAndContext(setOf(SCHEMAS), { action, context, plan }), wanted)
  })
}
