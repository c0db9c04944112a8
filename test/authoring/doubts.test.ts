import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lintWithTests } from '../../src/authoring/cases/untested.ts'
import { HEADER, LISTS, load, marked, spots } from './sources.ts'

const RULE = 'rules:\n  - {id: r, actions: [a.b], effect: allow, reason: R.}\n'
const W = (when: string, effect = 'allow') =>
  `rules:\n  - {id: r, actions: [a.b], effect: ${effect}, reason: R., when: ${when}}\n`
const A = (operator: string, value?: unknown) =>
  `{fact: context.a, operator: ${operator}${value === undefined ? '' : `, value: ${value}`}}`
const ACTION = (properties: string) =>
  `actions: {a.b: {context: {type: object, required: [a], properties: {${properties}}}}}\n`
const RULES = (...rules: [id: string, effect: string, when?: string][]) =>
  `rules:\n${rules.map(([id, effect, when]) => `  - {id: ${id}, actions: [a.b], effect: ${effect}, reason: R.${when === undefined ? '' : `, when: ${when}`}}\n`).join('')}`
const HOLD = (id: string, action: string, groups: string) =>
  `{id: ${id}, actions: [${action}], effect: require_approval, reason: R., approval: {approvers: [${groups}]}}`
const LIST_FILE = 'lists: {l: {file: lists/sanctioned.txt}}\n'
const WARNINGS: [name: string, text: string][] = [
  ['nothing doubtful', RULE],
  ['an unused list', 'lists: {«2002»l: {values: [a]}}\n'],
  ['an empty list', `lists: {l: {values: «2009»[]}}\n${W('{fact: context.a, operator: inList, value: l}')}`],
  ['an unused condition', 'conditions: {«2003»c: {fact: action, operator: equal, value: a}}\n'],
  ['hour 24', W('{fact: time.hour, operator: greaterThan, value: «2005»24}')],
  ['hour 23', W('{fact: «2011»time.hour, operator: greaterThan, value: 23}')],
  ['monday', W('{fact: time.weekday, operator: in, value: [mon, «2005»tuesday]}')],
  ['a pattern for an action', W('{fact: action, operator: in, value: [a.b, «2005»"a.*"]}').replace('[a.b]', '[a.*]')],
  ['a pattern for an action, elsewhere too', W('{fact: action, operator: notEqual, value: «2005»"c.*"}')],
  ['a part of an action', W('{fact: action, operator: startsWith, value: "a."}').replace('[a.b]', '["**"]')],
  ['a part of a day', W('{fact: time.weekday, operator: startsWith, value: s}')],
  ['a part of an environment', W('{fact: environment, operator: matches, value: "^li"}')],
  [
    'a part of a domain',
    `domains: {pay: [a.b], sale: [c.b]}\n${W('{fact: domain, operator: startsWith, value: p}').replace('[a.b]', '["**"]')}`,
  ],
  // Required members.
  [
    'a required member that is misspelt, which is one fault',
    `actions: {a.b: {context: {type: object, required: [«2033»curency], properties: {currency: {type: string}}}}}\n${W('{fact: context.currency, operator: equal, value: EUR}', 'deny')}`,
  ],
  [
    'a required member that is not described, and nothing like it is',
    'actions: {a.b: {context: {type: object, required: [id], properties: {currency: {type: string}}}}}\n',
  ],
  [
    'two required members with names alike',
    'actions: {a.b: {context: {type: object, required: [amount, amounts], properties: {amount: {type: number}}}}}\n',
  ],
  // Texts that end at a comment.
  [
    'a reason with a number sign',
    'rules:\n  - id: r\n    actions: [a.b]\n    effect: deny\n    reason: «2032»Rule #4 forbids it.\n',
  ],
  [
    'a reason with a comment',
    'rules:\n  - id: r\n    actions: [a.b]\n    effect: deny\n    reason: Rule four. # of the handbook\n',
  ],
  ['a reason in quotes', 'rules:\n  - id: r\n    actions: [a.b]\n    effect: deny\n    reason: "Rule" #4\n'],
  [
    'a constant with a number sign',
    'rules:\n  - id: r\n    actions: [a.b]\n    effect: allow\n    reason: R.\n    when:\n      fact: context.room\n      operator: equal\n      value: «2032»Room #4\n',
  ],
  ['a value of a list with a number sign', `lists:\n  l:\n    values:\n      - «2032»Room #4\n${W(A('inList', 'l'))}`],
  // Approvers.
  [
    'a group that looks misspelt',
    `approval: {approvers: [operations]}\nrules:\n  - ${HOLD('a', 'x', 'treasury')}\n  - ${HOLD('b', 'y', 'treasury')}\n  - ${HOLD('c', 'z', '«2030»tresury')}\n`,
  ],
  [
    'two holds of one action for two groups',
    `rules:\n  - ${HOLD('a', '"pay.*"', 'treasury')}\n  - ${HOLD('b', 'pay.out', 'operations').replace('[operations]', '«2031»[operations]')}\n`,
  ],
  [
    'two holds of one action for the group of the set and another',
    `approval: {approvers: [treasury]}\nrules:\n  - {id: a, actions: [pay.out], effect: require_approval, reason: R.}\n  - ${HOLD('b', 'pay.out', 'operations').replace('[operations]', '«2031»[operations]')}\n`,
  ],
  [
    'two holds of one action that have a group in common',
    `rules:\n  - ${HOLD('a', '"pay.*"', 'treasury')}\n  - ${HOLD('b', 'pay.out', 'operations, treasury')}\n`,
  ],
  ['two holds of other actions', `rules:\n  - ${HOLD('a', 'in', 'treasury')}\n  - ${HOLD('b', 'out', 'operations')}\n`],
  [
    'two holds that exclude each other',
    `actions: {pay: {context: {type: object, required: [a], properties: {a: {type: number}}}}}\nrules:\n  - ${HOLD('a', 'pay', 'treasury').replace('}}', `}, when: ${A('greaterThan', 9)}}`)}\n  - ${HOLD('b', 'pay', 'operations').replace('}}', `}, when: ${A('lessThanInclusive', 9)}}`)}\n`,
  ],
  // Patterns that end at a dot.
  [
    'a rule for everything that is for names without dots',
    'rules:\n  - {id: freeze, actions: [«2029»"*"], effect: deny, reason: R.}\n  - {id: r, actions: [a.b, "c.*"], effect: allow, reason: R.}\n',
  ],
  [
    'a rule for all payments but deep ones',
    'rules:\n  - {id: d, actions: [«2029»"payment.*"], effect: deny, reason: R.}\n  - {id: r, actions: ["payment.**"], effect: allow, reason: R., when: {fact: agent, operator: equal, value: x}}\n',
  ],
  [
    'a declared action beyond a pattern',
    'actions: {payment.card.refund: {}}\nrules:\n  - {id: h, actions: [x.y, «2029»"payment.*"], effect: require_approval, reason: R.}\n',
  ],
  [
    'an action beyond a pattern that another rule holds',
    'actions: {payment.card.refund: {}}\nrules:\n  - {id: h, actions: ["payment.*"], effect: deny, reason: R.}\n  - {id: g, actions: ["**.refund"], effect: require_approval, reason: R.}\n',
  ],
  [
    'an action beyond a pattern that a rule allows by its name',
    'rules:\n  - {id: h, actions: ["payment.*"], effect: deny, reason: R.}\n  - {id: g, actions: [payment.card.read], effect: allow, reason: R.}\n',
  ],
  [
    'a pattern that allows, which may end where it does',
    'actions: {payment.card.refund: {}}\nrules:\n  - {id: h, actions: ["payment.*"], effect: allow, reason: R.}\n',
  ],
  // Constants that no request has.
  ['one of two values that the schema refuses', ACTION('a: {enum: [EUR, USD]}') + W(A('in', '[«2005»EURO, USD]'))],
  ['a value too long', ACTION('a: {type: string, maxLength: 3}') + W(A('notIn', '[EUR, «2005»EURO]'))],
  ['a value of another form', ACTION('a: {type: string, pattern: "^[A-Z]{3}$"}') + W(A('in', '[EUR, «2005»eur]'))],
  ['a number above the maximum', ACTION('a: {type: number, maximum: 5}') + W(A('in', '[5, «2005»6]'))],
  [
    'an item that the schema refuses',
    ACTION('a: {type: array, items: {enum: [x, y]}}') +
      W(`{any: [${A('contains', '«2005»z')}, ${A('contains', 'x')}]}`),
  ],
  [
    'a value that the schema refuses, in a named condition',
    `conditions: {c: ${A('equal', '«2005»GPB')}}\n${ACTION('a: {enum: [GBP, EUR]}')}${W('{condition: c}')}`,
  ],
  [
    'a named condition for another action too',
    `conditions: {c: ${A('equal', 'GPB')}}\n${ACTION('a: {enum: [GBP, EUR]}')}${W('{condition: c}').replace('[a.b]', '[a.b, a.c]')}`,
  ],
  [
    'a default that the schema refuses',
    `facts: {context.a: {type: string, default: none}}\n${ACTION('a: {enum: [x, y]}').replace('required: [a], ', '')}${W(A('in', '[x, none]'))}`,
  ],
  [
    'a value of a list that the schema refuses',
    `lists: {l: {values: [EUR, «2005»USSR]}}\n${ACTION('a: {type: string, maxLength: 3}')}${W(A('inList', 'l'))}`,
  ],
  [
    'a value of a list that one of two rules may have',
    `lists: {l: {values: [EUR, USSR]}}\n${ACTION('a: {type: string, maxLength: 3}')}${W(A('inList', 'l'))}  - {id: s, actions: [a.c], effect: allow, reason: R., when: ${A('inList', 'l')}}\n`,
  ],
  // Names of facts in place of constants.
  ['a fact for a constant', W(A('equal', '«2028»context.b'))],
  ['a fact in a list of constants', W(A('in', '[x, «2028»"{context.b}"]'))],
  ['a fact that is always there', W(A('startsWith', '«2028»time.weekday'))],
  [
    'a declared fact of the plan',
    `facts: {context.a: {type: string}, plan.b: {type: string}}\n${W(A('equal', '«2028»"{{ plan.b }}"'))}`,
  ],
  ['a text with dots', `facts: {context.a: {type: string}}\n${W(A('in', '[plan.premium, a.b, agent, example.org]'))}`],
  ['environment prod', W('{fact: environment, operator: equal, value: «2005»prod}')],
  ['host bits', W('{fact: context.ip, operator: inCidr, value: [«2008»10.0.0.1/8]}')],
  ['a deny rule on an uncertain fact', W('{fact: «2007»context.a, operator: equal, value: 1}', 'deny')],
  ['an allow rule on an uncertain fact', W('{fact: context.a, operator: equal, value: 1}')],
  [
    'guarded by exists',
    W('{all: [{fact: context.a, operator: exists}, {fact: context.a, operator: equal, value: 1}]}', 'deny'),
  ],
  [
    'defaulted to what the rule is not about',
    `facts: {context.a: {type: number, default: 0}}\n${W('{fact: «2014»context.a, operator: equal, value: 1}', 'deny')}`,
  ],
  [
    'defaulted to what the rule is about',
    `facts: {context.a: {type: number, default: 1}}\n${W('{fact: context.a, operator: equal, value: 1}', 'deny')}`,
  ],
  [
    'defaulted, in a rule that holds by its default',
    `facts: {context.a: {type: number, default: 0}}\n${W('{not: {fact: context.a, operator: equal, value: 1}}', 'require_approval')}`,
  ],
  [
    'defaulted, in one of two ways to be held',
    `facts: {context.a: {type: number, default: 0}, context.b: {type: number}}\n${W('{any: [{fact: context.a, operator: equal, value: 1}, {fact: context.b, operator: exists}]}', 'require_approval')}`,
  ],
  [
    'defaulted, in all ways to be held',
    `facts: {context.a: {type: number, default: 0}, context.b: {type: number}}\n${W('{all: [{fact: «2014»context.a, operator: equal, value: 1}, {fact: context.b, operator: exists}]}', 'require_approval')}`,
  ],
  [
    'defaulted in each of two ways to be held',
    `facts: {context.a: {type: number, default: 1}, context.b: {type: string, default: DE}}\n${W('{any: [{fact: «2014»context.b, operator: in, value: [IR]}, {fact: context.a, operator: greaterThan, value: 9}]}', 'deny')}`,
  ],
  [
    'defaulted in two of three ways to be held',
    `facts: {context.a: {type: number, default: 1}, context.b: {type: number, default: 1}}\n${W('{any: [{fact: context.a, operator: equal, value: 9}, {fact: context.b, operator: equal, value: 9}, {fact: agent, operator: equal, value: x}]}', 'deny')}`,
  ],
  [
    'defaulted to nothing, and in another way to something',
    `facts: {context.a: {type: number, default: 1}, context.b: {type: string, default: ""}}\n${W('{any: [{fact: «2014»context.b, operator: equal, value: IR}, {fact: context.a, operator: equal, value: 9}]}', 'deny')}`,
  ],
  [
    'defaulted to something in each of two ways, of which nothing is needed as well',
    `facts: {context.a: {type: number, default: 1}, context.b: {type: number, default: 1}, context.c: {type: list, default: []}}\n${W('{all: [{any: [{fact: «2014»context.a, operator: equal, value: 9}, {fact: context.b, operator: equal, value: 9}]}, {fact: context.c, operator: contains, value: x}]}', 'deny')}`,
  ],
  [
    'defaulted to nothing in each of two ways',
    `facts: {context.a: {type: list, default: []}, context.b: {type: string, default: ""}}\n${W('{any: [{fact: context.b, operator: equal, value: IR}, {fact: context.a, operator: contains, value: x}]}', 'deny')}`,
  ],
  [
    'a scale that adds nothing by default',
    `facts: {context.a: {type: number, default: 0}}\nrisk:\n  - {name: f, actions: [a.b], weight: 5, scale: {fact: «2014»context.a, from: 0, to: 9}}\n`,
  ],
  [
    'a scale that adds something by default',
    `facts: {context.a: {type: number, default: 1}}\nrisk:\n  - {name: f, actions: [a.b], weight: 5, scale: {fact: context.a, from: 0, to: 9}}\n`,
  ],
  [
    'a scale by default, over what is required',
    `facts: {context.a: {type: number, default: 0}}\nactions: {a.b: {context: {type: object, required: [a], properties: {a: {type: number}}}}}\nrisk:\n  - {name: f, actions: [a.b], weight: 5, scale: {fact: context.a, from: 0, to: 9}}\n`,
  ],
  [
    'a sum to which a default adds nothing',
    `facts: {context.a: {type: number, default: 0}}\nhistory: {sum: {s: {actions: [a.b], fact: context.a, within: 1h, by: agent}}}\n${W('{fact: «2014»history.sum.s, operator: greaterThan, value: 9}', 'require_approval')}`,
  ],
  [
    'a sum to which a default adds something',
    `facts: {context.a: {type: number, default: 1000}}\nhistory: {sum: {s: {actions: [a.b], fact: context.a, within: 1h, by: agent}}}\n${W('{fact: history.sum.s, operator: greaterThan, value: 9}', 'require_approval')}`,
  ],
  [
    'a sum of what the schema requires',
    `facts: {context.a: {type: number, default: 0}}\nactions: {a.b: {context: {type: object, required: [a]}}}\nhistory: {sum: {s: {actions: [a.b], fact: context.a, within: 1h, by: agent}}}\n${W('{fact: history.sum.s, operator: greaterThan, value: 9}', 'require_approval')}`,
  ],
  [
    'defaulted to nothing',
    `facts: {context.a: {type: list, default: []}}\n${W('{fact: context.a, operator: contains, value: x}', 'deny')}`,
  ],
  [
    'defaulted, in an allow rule',
    `facts: {context.a: {type: number, default: 0}}\n${W('{fact: context.a, operator: equal, value: 1}')}`,
  ],
  [
    'defaulted and required',
    `facts: {context.a: {type: number, default: 0}}\nactions: {a.b: {context: {type: object, required: [a]}}}\n${W('{fact: context.a, operator: equal, value: 1}', 'deny')}`,
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
    'nothing is below the threshold of denial',
    'thresholds: {requireApproval: 0, deny: 0}\nrules:\n  - {id: «2006»a, actions: [x], effect: allow, reason: R.}\n  - {id: b, actions: [y], effect: deny, reason: R.}\n',
  ],
  ['a threshold that asks for approval always', `thresholds: {requireApproval: 0}\n${RULE}`],
  [
    'terms that stand twice',
    'approval: {approvers: [a, b, «2017»a], unbound: [context.a, «2017»context.a]}\nrules:\n  - {id: r, actions: [a.b], effect: require_approval, reason: R., approval: {approvers: [c, «2017»c]}}\n',
  ],
  [
    'partly shadowed',
    'rules:\n  - {id: a, actions: [x], effect: deny, reason: R.}\n  - {id: b, actions: [x, y], effect: allow, reason: R.}\n',
  ],
  // Conditions: never true, always true, without effect.
  ['two numbers that exclude each other', W(`{«2011»all: [${A('greaterThan', 100)}, ${A('lessThan', 50)}]}`)],
  ['two texts that exclude each other', W(`{«2011»all: [${A('equal', 'DE')}, ${A('startsWith', 'F')}]}`)],
  [
    'two times that exclude each other',
    W(`{«2011»all: [${A('before', '"2026-01-01T00:00:00Z"')}, ${A('after', '"2027-01-01T00:00:00Z"')}]}`),
  ],
  [
    'two lists of items that exclude each other',
    W(`{«2011»all: [${A('"someFact:equal"', 'x')}, ${A('doesNotContain', 'x')}]}`),
  ],
  ['a gap between two numbers', W(`{all: [${A('greaterThan', 1)}, ${A('lessThan', 2)}]}`)],
  [
    'one integer between two numbers',
    ACTION('a: {type: integer}') + W(`{all: [${A('greaterThan', 1)}, ${A('lessThan', 3)}]}`),
  ],
  [
    'no integer between two numbers',
    ACTION('a: {type: integer}') + W(`{«2011»all: [${A('greaterThan', 1)}, ${A('lessThan', 2)}]}`),
  ],
  ['different facts', W(`{all: [${A('equal', 1)}, {fact: context.b, operator: equal, value: 2}]}`)],
  ['patterns, of which nothing is claimed', W(`{all: [${A('matches', '"^a$"')}, ${A('matches', '"^b$"')}]}`)],
  ['a list in a file, which will change', LIST_FILE + W(`{all: [${A('equal', 'DE')}, ${A('inList', 'l')}]}`)],
  [
    'a list in the policy',
    `lists: {l: {values: [FR]}}\n${W(`{«2011»all: [${A('equal', 'DE')}, ${A('inList', 'l')}]}`)}`,
  ],
  ['another tenant', W('{fact: «2011»tenant, operator: equal, value: other}')],
  ['an action that the rule is not about', W('{fact: «2011»action, operator: equal, value: a.c}')],
  ['a value that the schema refuses', ACTION('a: {enum: [1, 2]}') + W(A('equal', '«2005»3'))],
  [
    'a value that the schema of one of two actions lets through',
    ACTION('a: {enum: [1]}') + W(A('equal', 3)).replace('[a.b]', '[a.b, a.c]'),
  ],
  [
    'a parent that need not be an object',
    ACTION('p: {properties: {a: {enum: [1]}}}') + W('{fact: context.p.a, operator: equal, value: «2005»3}'),
  ],
  [
    'missing in spite of a default',
    `facts: {context.a: {type: number, default: 0}}\n${W('{fact: «2012»context.a, operator: exists}')}`,
  ],
  [
    'a guard beside a schema that requires the fact',
    ACTION('a: {type: number}') + W(`{all: [${A('exists')}, ${A('equal', 1)}]}`),
  ],
  ['both sides of a number', W(`{«2012»any: [${A('greaterThan', 1)}, ${A('lessThanInclusive', 1)}]}`)],
  ['both sides of a number but not the number', W(`{any: [${A('greaterThan', 1)}, ${A('lessThan', 1)}]}`)],
  ['every hour', W('{fact: «2012»time.hour, operator: greaterThanInclusive, value: 0}')],
  [
    'a part that the other implies',
    W(`{all: [${A('greaterThan', 100)}, {fact: «2013»context.a, operator: greaterThan, value: 50}]}`),
  ],
  [
    'a part that the other covers',
    W(`{any: [{fact: «2013»context.a, operator: equal, value: x}, ${A('in', '[x, y]')}]}`),
  ],
  [
    'a part that stands there already',
    W(`{all: [{not: ${A('equal', 1)}}, {«2013»not: ${A('equal', 1)}}, {fact: context.b, operator: equal, value: 1}]}`),
  ],
  ['a guard, which is not without effect', W(`{all: [${A('exists')}, ${A('equal', 1)}]}`, 'deny')],
  [
    'a named condition, at its own place',
    `conditions: {c: {«2011»all: [${A('equal', 1)}, ${A('equal', 2)}]}}\n` +
      W('{condition: c}').replace('id: r', 'id: «2006»r'),
  ],
  [
    'a part of a risk factor',
    `risk:\n  - {name: f, actions: [a.b], weight: 50, when: {«2011»all: [${A('equal', 1)}, ${A('equal', 2)}]}}\n`,
  ],
  // Rules that never decide.
  [
    'a stronger rule with a wider condition',
    RULES(
      ['«2006»a', 'allow', A('greaterThan', 100)],
      ['b', 'deny', `{any: [${A('missing')}, ${A('greaterThan', 50)}]}`],
    ),
  ],
  [
    'a stronger rule with a narrower condition',
    RULES(
      ['a', 'allow', A('greaterThan', 50)],
      ['b', 'require_approval', `{all: [${A('exists')}, ${A('greaterThan', 100)}]}`],
    ),
  ],
  [
    'two rules that together leave nothing',
    RULES(
      ['«2006»a', 'allow'],
      ['b', 'deny', '{fact: time.hour, operator: lessThan, value: 12}'],
      ['c', 'require_approval', '{fact: time.hour, operator: greaterThan, value: 11}'],
    ),
  ],
  [
    'two rules that together leave an hour',
    RULES(
      ['a', 'allow'],
      ['b', 'deny', '{fact: time.hour, operator: lessThan, value: 12}'],
      ['c', 'require_approval', '{fact: time.hour, operator: greaterThan, value: 12}'],
    ),
  ],
  [
    'an earlier allow with a wider condition',
    RULES(['a', 'allow', A('lessThan', 100)], ['«2006»b', 'allow', A('lessThan', 50)]),
  ],
  [
    'a later allow with a wider condition',
    RULES(['a', 'allow', A('lessThan', 50)], ['b', 'allow', A('lessThan', 100)]),
  ],
  [
    'risk factors that always add up to a denial',
    `risk:\n  - {name: f, actions: ["**"], weight: 50}\n  - {name: g, actions: ["a.*"], weight: 30}\n` +
      RULES(['«2006»a', 'allow'], ['b', 'deny', '{fact: time.hour, operator: lessThan, value: 9}']),
  ],
  [
    'a pattern that others of two rules cover in parts',
    'rules:\n  - {id: a, actions: [x.y, z], effect: allow, reason: R.}\n  - {id: b, actions: ["x.*"], effect: deny, reason: R.}\n',
  ],
  [
    'one pattern covered by one rule, the other by another',
    'rules:\n  - {id: «2006»a, actions: ["x.*.z", q], effect: allow, reason: R.}\n  - {id: b, actions: ["x.**"], effect: deny, reason: R.}\n  - {id: c, actions: ["q*"], effect: require_approval, reason: R.}\n',
  ],
  // Duplicates.
  ['patterns', 'rules:\n  - {id: r, actions: [«2015»x.y, "x.*", «2015»"x.*"], effect: allow, reason: R.}\n'],
  ['patterns of a domain', 'domains: {d: ["x.**", «2015»x.y]}\n'],
  ['rules', RULES(['a', 'deny', A('exists')], ['«2016»b', 'deny', A('exists')])],
  [
    'rules with other effects',
    RULES(
      ['a', 'require_approval', '{fact: time.hour, operator: lessThan, value: 9}'],
      ['b', 'allow', '{fact: time.hour, operator: lessThan, value: 10}'],
    ),
  ],
  ['values of a list', `lists: {l: {values: [a, «2017»a, 1, "1"]}}\n${W(A('inList', 'l'))}`],
  ['constants', W(A('in', '[a, «2017»a]'))],
  // Texts for numbers, and scales.
  [
    'a number as text',
    W(`{all: [${A('greaterThan', 1)}, {fact: context.b, operator: equal, value: x}]}`) +
      '  - {id: q, actions: [q], effect: allow, reason: R., when: {fact: context.a, operator: equal, value: «2018»"100"}}\n',
  ],
  ['a text of digits', W(A('equal', '"100"'))],
  [
    'a scale beyond what the schema allows',
    `${ACTION('a: {type: number, maximum: 10}')}risk:\n  - {name: f, actions: [a.b], weight: 50, scale: {fact: context.a, from: «2019»10, to: 20}}\n`,
  ],
  [
    'a scale within',
    `${ACTION('a: {type: number, maximum: 11}')}risk:\n  - {name: f, actions: [a.b], weight: 50, scale: {fact: context.a, from: 10, to: 20}}\n`,
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

const ADVICE: [name: string, text: string][] = [
  ['a careful set', RULE],
  ['a negation on a fact that may be missing', W('{fact: «2102»context.a, operator: notEqual, value: 1}')],
  ['a negation with a guard', W(`{all: [${A('exists')}, ${A('notEqual', 1)}]}`)],
  ['a negation that restrains', W('{fact: «2007»context.a, operator: notEqual, value: 1}', 'deny')],
  ['a long list', W(A('in', `«2103»[${Array.from({ length: 31 }, (_, i) => i)}]`))],
  ['a list that is long enough', W(A('in', `[${Array.from({ length: 30 }, (_, i) => i)}]`))],
  ['a pattern without anchors', W(A('matches', '«2104»"^a"'))],
  ['a pattern with anchors', W(A('matches', '"(?i)^a$"'))],
  ['a pattern that must not match', W(`{all: [${A('exists')}, {not: ${A('matches', 'a')}}]}`)],
  ['a pattern that denies', W('{fact: «2007»context.a, operator: matches, value: a}', 'deny')],
  ['a pattern in a named condition', `conditions: {c: ${A('matches', '«2104»"^a"')}}\n${W('{condition: c}')}`],
  [
    'everything allowed',
    'rules:\n  - {id: r, actions: [a, «2105»"**"], effect: allow, reason: R.}\n'.replace('[a, ', '['),
  ],
  ...['*', '*.*', '*.**', '**.*', '**.**'].map((pattern): [string, string] => [
    `everything allowed by ${pattern}`,
    `rules:\n  - {id: r, actions: [«2105»"${pattern}"], effect: allow, reason: R.}\n`,
  ]),
  ['everything of a kind allowed', 'rules:\n  - {id: r, actions: ["*.read"], effect: allow, reason: R.}\n'],
  ['everything denied', 'rules:\n  - {id: r, actions: ["**"], effect: deny, reason: R.}\n'],
  ['who asks may approve', `approval: {selfApproval: «2106»true}\n${RULE}`],
  [
    'factors that come to nothing',
    `risk: «2107»\n  - {name: f, actions: [a.b], weight: 39.9}\n`.replace('risk: «2107»\n  - {', 'risk:\n  «2107»- {'),
  ],
  ['factors that come to something', 'risk:\n  - {name: f, actions: [a.b], weight: 40}\n'],
  ['an action that looks misspelt', `actions: {order.read: {}}\n${RULE.replace('a.b', '«2108»order.raed')}`],
  ['a pattern that looks misspelt', `actions: {payment.refund: {}}\n${RULE.replace('a.b', '«2108»paymet.*')}`],
  [
    'a pattern of a domain that looks misspelt',
    `actions: {payment.refund: {}}\ndomains: {«2041»d: ["pyament.**"]}\n${RULE}`,
  ],
  ['a pattern that begins as an action', `actions: {payment.refund: {}}\n${RULE.replace('a.b', 'payment.*.x')}`],
  [
    'two patterns alike, of which one is declared',
    `actions: {border.cross: {}}\n${RULE.replace('[a.b]', '[border.*, borders.*, corder.*]')}`,
  ],
  ['two actions alike', `actions: {order.read: {}}\n${RULE.replace('a.b', 'order.reads')}`],
  ['two versions', `actions: {order.v1: {}}\n${RULE.replace('a.b', 'order.v2')}`],
]

for (const [name, source] of ADVICE) {
  test(`advice: ${name}`, async () => {
    const { text, wanted } = marked(HEADER + source)
    const files = [{ name: 'main.yaml', bytes: Buffer.from(text) }]
    const found = await lintWithTests({ tenant: 'acme', files, lists: LISTS, ignored: [] })
    assert.deepEqual(spots(found), wanted)
    const loaded = spots(load({ 'main.yaml': text }).diagnostics)
    const doubts = wanted.filter(([code]) => code < 'GATE2100')
    assert.deepEqual(loaded, doubts, 'loading gives no advice')
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
