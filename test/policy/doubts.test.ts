import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEADER, load, marked, spots } from './sources.ts'

const RULE = 'rules:\n  - {id: r, actions: [a.b], effect: allow, reason: R.}\n'
const W = (when: string, effect = 'allow') =>
  `rules:\n  - {id: r, actions: [a.b], effect: ${effect}, reason: R., when: ${when}}\n`
const WARNINGS: [name: string, text: string][] = [
  ['nothing doubtful', RULE],
  ['an unused list', 'lists: {«2002»l: {values: [a]}}\n'],
  ['an empty list', `lists: {l: {values: «2009»[]}}\n${W('{fact: context.a, operator: inList, value: l}')}`],
  ['an unused condition', 'conditions: {«2003»c: {fact: action, operator: equal, value: a}}\n'],
  ['hour 24', W('{fact: time.hour, operator: greaterThan, value: «2005»24}')],
  ['hour 23', W('{fact: «2011»time.hour, operator: greaterThan, value: 23}')],
  ['monday', W('{fact: time.weekday, operator: in, value: [mon, «2005»tuesday]}')],
  ['environment prod', W('{fact: environment, operator: equal, value: «2005»prod}')],
  ['host bits', W('{fact: context.ip, operator: inCidr, value: [«2008»10.0.0.1/8]}')],
  ['a deny rule on an uncertain fact', W('{fact: «2007»context.a, operator: equal, value: 1}', 'deny')],
  ['an allow rule on an uncertain fact', W('{fact: context.a, operator: equal, value: 1}')],
  [
    'guarded by exists',
    W('{all: [{fact: context.a, operator: exists}, {fact: context.a, operator: equal, value: 1}]}', 'deny'),
  ],
  [
    'defaulted',
    `facts: {context.a: {type: number, default: 0}}\n${W('{fact: context.a, operator: equal, value: 1}', 'deny')}`,
  ],
  [
    'required',
    `actions: {a.b: {context: {type: object, required: [a]}}}\n${W('{fact: context.a, operator: equal, value: 1}', 'deny')}`,
  ],
  [
    'shadowed by a deny',
    'rules:\n  - {id: «2006»a, actions: [x.y], effect: allow, reason: R.}\n  - {id: b, actions: ["x.*"], effect: deny, reason: R.}\n',
  ],
  [
    'shadowed by an earlier allow',
    'rules:\n  - {id: a, actions: ["**"], effect: allow, reason: R.}\n  - {id: «2006»b, actions: ["x.*", q], effect: allow, reason: R.}\n',
  ],
  [
    'two holds add up',
    'rules:\n  - {id: a, actions: [x], effect: require_approval, reason: R.}\n  - {id: b, actions: [x], effect: require_approval, reason: R., approval: {quorum: 2}}\n',
  ],
  [
    'partly shadowed',
    'rules:\n  - {id: a, actions: [x], effect: deny, reason: R.}\n  - {id: b, actions: [x, y], effect: allow, reason: R.}\n',
  ],
]

for (const [name, source] of WARNINGS) {
  test(`warnings: ${name}`, () => {
    const { text, wanted } = marked(HEADER + source)
    const { set, diagnostics } = load({ 'main.yaml': text })
    assert.deepEqual(spots(diagnostics), wanted)
    assert.ok(set !== undefined, 'a warning does not keep a set from loading')
  })
}

const SUGGESTIONS: [text: string, suggestion: string | null][] = [
  ['rulez: []\n', 'rules'],
  ['timezone: Europe/Berln\n', 'Europe/Berlin'],
  ['approval: {expiresIn: 30 minutes}\n', '30m'],
  ['defaults: {decision: den}\n', 'deny'],
  [W('{fact: context.a, operator: ">=", value: 1}'), 'greaterThanInclusive'],
  [W('{fact: context.a, operator: "nt:equals", value: 1}'), 'not:equal'],
  [W('{fact: context.a, operator: inCidr, value: 10.0.0.1}'), '10.0.0.1/32'],
  [
    `facts: {context.amount: {type: number}}\n${W('{fact: context.ammount, operator: equal, value: 1}')}`,
    'context.amount',
  ],
  [`facts: {context.amount: {type: number}}\n${W('{fact: amount, operator: equal, value: 1}')}`, 'context.amount'],
  [`facts: {context.amount: {type: number}}\n${W('{fact: context.amount, operator: equal, value: "10"}')}`, '10'],
  [`domains: {finance: [a.b]}\n${W('{fact: domain, operator: equal, value: finanse}')}`, 'finance'],
  [W('{fact: context.a, operator: zzzzzz, value: 1}'), null],
]

for (const [text, suggestion] of SUGGESTIONS) {
  test(`suggestions: ${suggestion} for ${text.split('\n').at(-2)}`, () => {
    assert.equal(load({ 'main.yaml': HEADER + text }).diagnostics[0]?.suggestion, suggestion)
  })
}
