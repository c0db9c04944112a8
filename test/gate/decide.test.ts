import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type DecisionInput, decide } from '../../src/gate/decide.ts'
import type { Evaluation, RuleResult } from '../../src/policies/evaluate.ts'
import { EFFECTS, type Effect, type PolicySet, type Truth } from '../../src/policies/set.ts'
import { setOf } from '../authoring/sources.ts'

const SET = setOf('')
const HOLD_SET = setOf('defaults: {decision: require_approval, reason: Ask.}\napproval: {quorum: 3}\n')
const TERMS = { quorum: 2, expiresInMs: 1000, selfApproval: false, approvers: [], unbound: [] }

function rule(effect: Effect, outcome: Truth = 'true', conditional = true, id = `${effect}-rule`): RuleResult {
  const condition = conditional ? ({ kind: 'condition', name: 'c' } as const) : undefined
  const place = { file: 'acme/main.yaml', line: 1, endLine: 1 }
  return {
    rule: {
      id,
      effect,
      mode: 'enforce',
      reason: `${id}.`,
      description: undefined,
      actions: [],
      condition,
      terms: TERMS,
      ...place,
    },
    outcome,
    missing: outcome === 'unknown' ? ['context.a'] : [],
    overBudget: [],
  }
}

function input(rules: readonly RuleResult[], more: Partial<DecisionInput> = {}): DecisionInput {
  const evaluation: Evaluation = { rules, factors: [], facts: new Map(), defaulted: new Set(), truths: new Map() }
  const risk = { score: 0, factors: [] }
  return { set: SET, killSwitchReason: undefined, validation: { ok: true }, evaluation, risk, ...more }
}

const risk = (score: number) => ({ risk: { score, factors: [] } })
const fault = { validation: { ok: false, fault: 'context.amount is required' } }
const all = [rule('deny'), rule('require_approval'), rule('allow')]

// Each row has everything that the rows below it have, so that the order itself is tested.
const ORDER: [
  name: string,
  input: DecisionInput,
  decision: string,
  decidedBy: string,
  rule: string | null,
  retry: string,
][] = [
  [
    'kill switch',
    input(all, { killSwitchReason: 'Stopped.', ...fault, ...risk(100) }),
    'deny',
    'kill_switch',
    null,
    'never',
  ],
  [
    'kill switch without policy',
    input([], { killSwitchReason: 'Stopped.', set: undefined, evaluation: undefined }),
    'deny',
    'kill_switch',
    null,
    'never',
  ],
  ['no policy', input(all, { set: undefined, ...fault, ...risk(100) }), 'deny', 'no_policy', null, 'never'],
  ['no evaluation', input(all, { evaluation: undefined, ...risk(100) }), 'deny', 'no_policy', null, 'never'],
  ['invalid context', input(all, { ...fault, ...risk(100) }), 'deny', 'invalid_context', null, 'changed_request'],
  ['deny rule', input(all, risk(100)), 'deny', 'deny_rule', 'deny-rule', 'changed_request'],
  ['deny rule without condition', input([rule('deny', 'true', false)]), 'deny', 'deny_rule', 'deny-rule', 'never'],
  ['risk denies', input(all.slice(1), risk(80)), 'deny', 'risk', null, 'changed_request'],
  [
    'hold rule',
    input(all.slice(1), risk(79.9)),
    'require_approval',
    'hold_rule',
    'require_approval-rule',
    'after_approval',
  ],
  ['risk holds', input(all.slice(2), risk(40)), 'require_approval', 'risk', null, 'after_approval'],
  ['risk denies, far above', input(all.slice(2), risk(100)), 'deny', 'risk', null, 'changed_request'],
  ['risk holds, up to the other', input(all.slice(2), risk(79.9)), 'require_approval', 'risk', null, 'after_approval'],
  ['allow rule', input(all.slice(2), risk(39.9)), 'allow', 'allow_rule', 'allow-rule', 'never'],
  ['default deny', input([]), 'deny', 'default', null, 'never'],
  [
    'default deny, an allow rule could match',
    input([rule('allow', 'false')]),
    'deny',
    'default',
    null,
    'changed_request',
  ],
  ['default deny, no allow rule could', input([rule('deny', 'false')]), 'deny', 'default', null, 'never'],
  ['default hold', input([], { set: HOLD_SET }), 'require_approval', 'default', null, 'after_approval'],
  ['default hold, high risk', input([], { set: HOLD_SET, ...risk(80) }), 'deny', 'risk', null, 'changed_request'],
  [
    'default hold, an allow rule matches',
    input(all.slice(2), { set: HOLD_SET }),
    'allow',
    'allow_rule',
    'allow-rule',
    'never',
  ],
  [
    'unevaluable deny counts',
    input([rule('deny', 'unknown'), rule('allow')]),
    'deny',
    'deny_rule',
    'deny-rule',
    'changed_request',
  ],
  [
    'unevaluable hold counts',
    input([rule('require_approval', 'unknown'), rule('allow')]),
    'require_approval',
    'hold_rule',
    'require_approval-rule',
    'after_approval',
  ],
  ['unevaluable allow does not', input([rule('allow', 'unknown')]), 'deny', 'default', null, 'changed_request'],
  [
    'rules that do not match',
    input([rule('deny', 'false'), rule('require_approval', 'false'), rule('allow')]),
    'allow',
    'allow_rule',
    'allow-rule',
    'never',
  ],
  [
    'the first of two denies',
    input([rule('deny', 'unknown', true, 'one'), rule('deny', 'true', true, 'two')]),
    'deny',
    'deny_rule',
    'one',
    'changed_request',
  ],
  [
    'undeclared action is no fault',
    input(all.slice(2), { validation: { ok: false } }),
    'allow',
    'allow_rule',
    'allow-rule',
    'never',
  ],
]

for (const [name, given, decision, decidedBy, wantedRule, retry] of ORDER) {
  test(`decide: ${name}`, () => {
    const outcome = decide(given)
    assert.deepEqual(
      [outcome.decision, outcome.decidedBy, outcome.rule, outcome.retry],
      [decision, decidedBy, wantedRule, retry],
    )
    assert.equal(outcome.hold !== null, decision === 'require_approval')
    assert.equal(outcome.planValidated, given.validation.ok)
  })
}

test('decide: the reason of an unevaluable rule names the rule and the fact', () => {
  const { reason, unevaluable } = decide(input([rule('deny', 'unknown'), rule('allow', 'unknown')]))
  assert.ok(reason.includes('deny-rule') && reason.includes('context.a'))
  assert.deepEqual(unevaluable, [
    { kind: 'rule', name: 'deny-rule', facts: ['context.a'] },
    { kind: 'rule', name: 'allow-rule', facts: ['context.a'] },
  ])
})

test('decide: a hold has the terms of all rules that hold, else those of the set', () => {
  const two = {
    ...rule('require_approval', 'unknown'),
    rule: { ...rule('require_approval').rule, terms: { ...TERMS, quorum: 5, expiresInMs: 9 } },
  }
  const { hold } = decide(input([rule('require_approval'), two, rule('require_approval', 'false')], risk(50)))
  assert.deepEqual(hold, { ...TERMS, quorum: 5, expiresInMs: 9 })
  assert.equal(decide(input([], { set: HOLD_SET })).hold?.quorum, 3)
  assert.equal(decide(input([rule('allow')], { set: HOLD_SET, ...risk(50) })).hold?.quorum, 3)
})

const SEVERITY = { allow: 0, require_approval: 1, deny: 2 }
const results = fc.array(fc.tuple(fc.constantFrom(...EFFECTS), fc.constantFrom<Truth>('true', 'false', 'unknown')), {
  maxLength: 5,
})
// Often one of a few, so that scores and thresholds meet.
const score = fc.oneof(
  fc.constantFrom(0, 39.9, 40, 80, 100),
  fc.integer({ min: 0, max: 1000 }).map((tenths) => tenths / 10),
)

function setWith(hold: boolean, thresholds: readonly [number, number]): PolicySet {
  return {
    ...(hold ? HOLD_SET : SET),
    thresholds: { requireApproval: Math.min(...thresholds), deny: Math.max(...thresholds) },
  }
}

test('property: raising the score never softens the decision', () => {
  fc.assert(
    fc.property(results, score, score, fc.tuple(score, score), fc.boolean(), (rules, a, b, thresholds, hold) => {
      const set = setWith(hold, thresholds)
      const given = rules.map(([effect, outcome]) => rule(effect, outcome))
      const low = decide(input(given, { set, ...risk(Math.min(a, b)) })).decision
      const high = decide(input(given, { set, ...risk(Math.max(a, b)) })).decision
      assert.ok(SEVERITY[high] >= SEVERITY[low])
    }),
    { numRuns: 3000 },
  )
})

// A hold rule that cannot be evaluated turns a default deny into a hold, since it counts as matched; people then see
// the request. Everything else gets stricter or stays.
test('property: losing a fact never allows, and never softens what a rule or the risk decided', () => {
  fc.assert(
    fc.property(results, fc.nat(), score, fc.boolean(), (rules, which, at, hold) => {
      const set = setWith(hold, [40, 80])
      const given = rules.map(([effect, outcome]) => rule(effect, outcome))
      const lost = rules.map(([effect, outcome], i) => rule(effect, i === which % rules.length ? 'unknown' : outcome))
      const before = decide(input(given, { set, ...risk(at) }))
      const after = decide(input(lost, { set, ...risk(at) }))
      if (after.decision === 'allow') assert.equal(before.decision, 'allow')
      if (before.decidedBy !== 'default') assert.ok(SEVERITY[after.decision] >= SEVERITY[before.decision])
    }),
  )
})
