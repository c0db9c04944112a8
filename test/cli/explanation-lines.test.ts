import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/base/json.ts'
import { decisionLines, explanationLines, factorLines } from '../../src/cli/decisions/explanation-lines.ts'
import { explanationOf } from '../../src/gate/explain.ts'
import { NO_HISTORY } from '../../src/gate/history.ts'
import { judge } from '../../src/gate/judge.ts'
import type { PolicySet } from '../../src/policies/set.ts'
import { setOf } from '../authoring/sources.ts'
import { plainText } from './io.ts'

const SET = setOf(`conditions:
  abroad: {fact: context.country, operator: notIn, value: [DE, FR]}
rules:
  - {id: open, actions: ["pay.*"], effect: allow, reason: R.}
  - {id: abroad, actions: ["pay.*"], effect: deny, reason: Not abroad., when: {condition: abroad}}
  - id: held
    actions: ["pay.*"]
    effect: require_approval
    reason: R.
    when: {any: [{all: [{condition: abroad}, {condition: abroad}]}, {not: {fact: context.note, operator: exists}}]}
  - {id: long, actions: ["pay.*"], effect: deny, reason: R., when: {fact: context.note, operator: in, value: [${'x'.repeat(99)}]}}
risk:
  - {name: size, actions: ["pay.*"], weight: 30, scale: {fact: context.amount, from: 0, to: 100}}
  - {name: far, actions: ["pay.*"], weight: 10, when: {condition: abroad}}
`)

/** Judges the request by the set, and explains the decision. */
async function explained(set: PolicySet, context: JsonObject, action = 'pay.out') {
  const question = { set, killSwitchReason: undefined, tenant: 'acme', environment: 'live', agent: 'bot' } as const
  const judgement = await judge({ ...question, nowMs: 0, action, context, plan: undefined, history: NO_HISTORY })
  return { judgement, why: explanationOf(set, action, judgement) }
}

async function told(context: JsonObject): Promise<string> {
  const { judgement, why } = await explained(SET, context)
  const lines = [...decisionLines(judgement.outcome, judgement.risk.score, why), ...explanationLines(why)]
  return plainText(lines).join('\n')
}

test('an explanation on one screen: decision, request, rules and risk factors, in columns', async () => {
  const lines = (await told({ country: 'US', amount: 50, note: 'hi' })).split('\n')
  assert.deepEqual(lines, [
    'deny',
    'reason        Not abroad.',
    'decided by    deny_rule, rule abroad at acme/main.yaml:7',
    'risk          25 (approval from 40, denied from 80)',
    'request       not checked, because the action is not declared',
    '',
    'rules:',
    'yes  deny abroad                                                  decides        acme/main.yaml:7',
    'yes    condition abroad                                                          acme/main.yaml:4',
    'yes      context.country notIn ["DE","FR"]                        is "US"        acme/main.yaml:4',
    'yes  allow open                                                                  acme/main.yaml:6',
    'yes  require_approval held                                                       acme/main.yaml:8',
    'yes    any of',
    'yes      all of',
    'yes        condition abroad                                                      acme/main.yaml:4',
    'yes          context.country notIn ["DE","FR"]                    is "US"        acme/main.yaml:4',
    'yes        condition abroad, as above                                            acme/main.yaml:4',
    'no       not',
    'yes        context.note exists                                    is "hi"        acme/main.yaml:12',
    'no   deny long                                                                   acme/main.yaml:13',
    'no     context.note in ["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…  is "hi"        acme/main.yaml:13',
    '',
    'risk factors:',
    'yes  size                                                         adds 15 of 30  acme/main.yaml:15',
    '       context.amount from 0 to 100                               is 50',
    'yes  far                                                          adds 10 of 10  acme/main.yaml:16',
    'yes    condition abroad                                                          acme/main.yaml:4',
    'yes      context.country notIn ["DE","FR"]                        is "US"        acme/main.yaml:4',
  ])
})

const SHOWN: [name: string, context: JsonObject, wanted: RegExp][] = [
  ['a missing fact', {}, /\n\? +context\.country notIn .* is missing +acme/],
  ['what an unknown rule counts as', {}, /\n\? {4}deny abroad +counts as yes, decides +acme/],
  [
    'the weight of a factor without its fact',
    {},
    /\n\? {4}size +adds 30 of 30 +acme.*\n +context\.amount from 0 to 100 +is missing/,
  ],
  ['a long value', { note: 'y'.repeat(9000) }, /is "y{39}… \(9002 characters\)/],
  ['control characters of an agent', { country: 'a\u001b[31m\u202e\n' }, /is "a\\u001b\[31m\\u\{202e\}\\n" /],
]

for (const [name, context, wanted] of SHOWN) {
  test(`explanation: ${name}`, async () => assert.match(await told(context), wanted))
}

test('explanation: without rules or factors about the action, it says so and has no empty heading', async () => {
  const { why } = await explained(SET, {}, 'mail.send')
  const lines = plainText(explanationLines(why))
  assert.deepEqual(lines.slice(1), ['', 'no rule covers this action'])
})

test('risk: the factors alone', async () => {
  const { why } = await explained(SET, { country: 'DE', amount: 10 })
  const lines = plainText(factorLines(why))
  assert.match(lines[0] ?? '', /^yes {2}size +adds 3 of 30 +acme\/main\.yaml:15$/)
  assert.match(lines[2] ?? '', /^no {3}far +adds 0 of 10 +acme\/main\.yaml:16$/)
})

test('a declared default that stands in for a missing value is marked, in comparisons and in scales', async () => {
  const set = setOf(`facts:
  context.country: {type: string, default: DE}
  context.amount: {type: number, default: 5}
rules:
  - {id: home, actions: ["pay.*"], effect: allow, reason: R., when: {fact: context.country, operator: equal, value: DE}}
risk:
  - {name: size, actions: ["pay.*"], weight: 10, scale: {fact: context.amount, from: 0, to: 10}}
`)
  const seen = async (context: JsonObject): Promise<string[]> => {
    const lines = plainText(explanationLines((await explained(set, context)).why))
    return lines.flatMap((line) => / {2}(is .*?)(?: {2}|$)/.exec(line)?.[1] ?? [])
  }
  assert.deepEqual(await seen({}), ['is "DE" (default)', 'is 5 (default)'])
  assert.deepEqual(await seen({ country: 'DE', amount: 5 }), ['is "DE"', 'is 5'])
  assert.deepEqual(await seen({ country: null, amount: 7 }), ['is "DE" (default)', 'is 7'])
})
