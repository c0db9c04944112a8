const rule = (effect: string, when: string, id = 'r'): string =>
  `  - {id: ${id}, actions: [pay.out], effect: ${effect}, reason: R., when: ${when}}\n`
const rules = (...all: string[]): string => `timezone: UTC\nrules:\n${all.join('')}`
const ALLOW = '  - {id: ok, actions: [pay.out], effect: allow, reason: R.}\n'
const leaf = (fact: string, operator: string, value: string): string =>
  `{fact: ${fact}, operator: "${operator}", value: ${value}}`
const amount = (operator: string, value: string): string => leaf('context.amount', operator, value)
const text = (operator: string, value: string): string => leaf('context.text', operator, value)
const AMOUNT =
  'actions: {pay.out: {context: {type: object, required: [amount], properties: {amount: {type: number, minimum: 0}}}}}\n'
const TEXT = 'actions: {pay.out: {context: {type: object, required: [text], properties: {text: {type: string}}}}}\n'
const LIST =
  'actions: {pay.out: {context: {type: object, required: [to], properties: {to: {type: array, items: {type: string}}}}}}\n'
const COUNT = 'history: {count: {pays: {actions: [pay.out], within: 1h, by: agent}}}\n'
const count = (operator: string, value: number): string => leaf('history.count.pays', operator, `${value}`)
const HOLD = '{id: a, actions: [x], effect: require_approval, reason: R., approval: {approvers: [treasury]}}'

/** Policies that load without error, and do not do what they look like; the only code that lint reports for each. */
export const MISTAKES: [name: string, code: string, policy: string][] = [
  [
    'policies that are only observed',
    'GATE2039',
    'mode: observe\nrules: [{id: a, actions: [x], effect: allow, reason: R.}]\n',
  ],
  [
    'an allow below a deny for all',
    'GATE2006',
    'rules:\n  - {id: a, actions: [order.read], effect: allow, reason: R.}\n  - {id: b, actions: ["**"], effect: deny, reason: R.}\n',
  ],
  [
    'a hold below a hold for all',
    'GATE2006',
    'rules:\n  - {id: a, actions: ["**"], effect: require_approval, reason: R.}\n  - {id: b, actions: [x], effect: allow, reason: R.}\n',
  ],
  [
    'a currency in another letter case than elsewhere',
    'GATE2036',
    TEXT + rules(rule('deny', text('equal', 'eur'), 'd'), rule('allow', text('in', '[EUR, USD]'))),
  ],
  ['text after the end of a pattern', 'GATE2035', TEXT + rules(rule('deny', text('matches', '"$DE"')))],
  ['text before the beginning of a pattern', 'GATE2035', TEXT + rules(rule('deny', text('matches', '"IBAN^DE"')))],
  ['a doubled backslash in single quotes', 'GATE2035', TEXT + rules(rule('deny', text('matches', `'^\\\\d+$'`)))],
  ['a pattern that allows a part', 'GATE2104', TEXT + rules(rule('allow', text('matches', 'example.com')))],
  [
    'anchors that hold for one alternative each',
    'GATE2104',
    TEXT + rules(rule('allow', text('matches', '"^GET|HEAD$"'))),
  ],
  ['a domain without the dot before it', 'GATE2110', TEXT + rules(rule('allow', text('endsWith', 'example.com')))],
  [
    'a host without the slash after it',
    'GATE2110',
    TEXT + rules(rule('allow', text('startsWith', '"https://api.example.com"'))),
  ],
  ['a folder without the slash after it', 'GATE2110', TEXT + rules(rule('allow', text('startsWith', '/workspace')))],
  [
    'an empty list file',
    'GATE2009',
    `lists: {l: {file: lists/empty.txt}}\n${TEXT}${rules(rule('deny', text('inList', 'l')))}`,
  ],
  [
    'a range in a list of the policy',
    'GATE2034',
    `lists: {l: {values: [10.0.0.0/8, 10.1.2.3]}}\n${TEXT}${rules(rule('deny', text('inList', 'l')))}`,
  ],
  [
    'a space in a list of the policy',
    'GATE2034',
    `lists: {l: {values: ["SY ", CU]}}\n${TEXT}${rules(rule('deny', text('inList', 'l')))}`,
  ],
  ['the end of the last hour', 'GATE2012', rules(rule('deny', leaf('time.hour', 'lessThan', '24')))],
  [
    'a night with all in place of any',
    'GATE2011',
    rules(
      rule(
        'deny',
        `{all: [${leaf('time.hour', 'lessThan', '7')}, ${leaf('time.hour', 'greaterThanInclusive', '20')}]}`,
      ),
    ),
  ],
  [
    'office hours with any in place of all',
    'GATE2012',
    rules(
      rule(
        'deny',
        `{any: [${leaf('time.hour', 'greaterThanInclusive', '8')}, ${leaf('time.hour', 'lessThan', '18')}]}`,
      ),
    ),
  ],
  ['a weekday with a capital', 'GATE2005', rules(rule('deny', leaf('time.weekday', 'equal', 'Sat')))],
  [
    'hours without a time zone',
    'GATE2112',
    rules(rule('deny', leaf('time.hour', 'lessThan', '7'))).replace('timezone: UTC\n', ''),
  ],
  [
    'an allow within a wider one',
    'GATE2006',
    AMOUNT + rules(rule('allow', amount('lessThan', '1000'), 'a'), rule('allow', amount('lessThan', '100'), 'b')),
  ],
  [
    'a hold above the limit of a deny',
    'GATE2006',
    AMOUNT +
      rules(
        rule('deny', amount('greaterThan', '1000'), 'a'),
        rule('require_approval', amount('greaterThan', '10000'), 'b'),
        ALLOW,
      ),
  ],
  [
    'a count of an action that nothing allows',
    'GATE2026',
    COUNT.replace('pay.out', 'pay.in') + AMOUNT + rules(rule('deny', count('greaterThan', 3)), ALLOW),
  ],
  [
    'a count that forgets the action asked for',
    'GATE2012',
    `${COUNT}${AMOUNT}risk: [{name: f, actions: [pay.out], weight: 50, when: ${count('greaterThan', 0)}}]\n${rules(ALLOW)}`,
  ],
  [
    'a count that is never below one',
    'GATE2011',
    COUNT +
      AMOUNT +
      rules(
        rule('allow', count('lessThan', 1)),
        ALLOW.replace('}', ', when: {fact: agent, operator: equal, value: x}}'),
      ),
  ],
  [
    'a sum of numbers that may be negative',
    'GATE2037',
    `history: {sum: {paid: {actions: [pay.out], fact: context.amount, within: 1d, by: tenant}}}\n${AMOUNT.replace(', minimum: 0', '')}${rules(rule('deny', leaf('history.sum.paid', 'greaterThan', '1000')), ALLOW)}`,
  ],
  [
    'an approver group with a slip',
    'GATE2030',
    `rules:\n  - ${HOLD}\n  - ${HOLD.replace('id: a', 'id: b').replace('[x]', '[y]').replace('treasury', 'tresury')}\n`,
  ],
  ['an approval that the asking agent may give', 'GATE2106', `approval: {selfApproval: true}\nrules:\n  - ${HOLD}\n`],
  [
    'an approval for another amount',
    'GATE2038',
    AMOUNT +
      rules(
        rule('require_approval', amount('greaterThan', '5')).replace(
          'when:',
          'approval: {unbound: [context.amount]}, when:',
        ),
      ),
  ],
  [
    'an action with capitals',
    'GATE2108',
    `${AMOUNT}rules:\n  - {id: a, actions: [Pay.Out], effect: deny, reason: R.}\n${ALLOW}`,
  ],
  [
    'a member of the plan in place of the context',
    'GATE2007',
    AMOUNT + rules(rule('deny', leaf('plan.amount', 'greaterThan', '1000')), ALLOW),
  ],
  [
    'any of two values that are not equal',
    'GATE2012',
    TEXT + rules(rule('deny', `{any: [${text('notEqual', 'DE')}, ${text('notEqual', 'FR')}]}`)),
  ],
  [
    'all of two values that are equal',
    'GATE2011',
    TEXT + rules(rule('deny', `{all: [${text('equal', 'DE')}, ${text('equal', 'FR')}]}`)),
  ],
  [
    'not around a fact that may be missing',
    'GATE2102',
    rules(rule('allow', '{not: {fact: context.blocked, operator: equal, value: true}}')),
  ],
  [
    'a default that allows',
    'GATE2109',
    `facts: {context.ok: {type: boolean, default: true}}\n${rules(rule('allow', leaf('context.ok', 'equal', 'true')))}`,
  ],
  [
    'a default that keeps a deny from applying',
    'GATE2014',
    `facts: {context.bad: {type: boolean, default: false}}\n${rules(rule('deny', leaf('context.bad', 'equal', 'true')))}`,
  ],
  [
    'a pattern for one level of names',
    'GATE2029',
    'actions: {pay.card.refund: {}}\nrules:\n  - {id: a, actions: ["pay.*"], effect: deny, reason: R.}\n  - {id: b, actions: ["pay.**"], effect: allow, reason: R.}\n',
  ],
  [
    'a deny that asks for all items',
    'GATE2111',
    LIST + rules(rule('deny', leaf('context.to', 'everyFact:endsWith', '"@evil.example"'))),
  ],
  [
    'an allow that asks for one item',
    'GATE2111',
    LIST + rules(rule('allow', leaf('context.to', 'someFact:endsWith', '"@acme.example"'))),
  ],
  [
    'a deny for all but a domain, without the dot before it',
    'GATE2110',
    TEXT + rules(rule('deny', `{not: ${text('endsWith', 'example.com')}}`), ALLOW),
  ],
  [
    'a deny of the same, by a decorator',
    'GATE2110',
    TEXT + rules(rule('deny', text('not:endsWith', 'example.com')), ALLOW),
  ],
  [
    'a deny that one colleague among the recipients ends',
    'GATE2111',
    LIST + rules(rule('deny', leaf('context.to', 'not:someFact:endsWith', '"@acme.example"')), ALLOW),
  ],
  [
    'a deny of the same, with not around it',
    'GATE2111',
    LIST + rules(rule('deny', `{not: ${leaf('context.to', 'someFact:endsWith', '"@acme.example"')}}`), ALLOW),
  ],
  [
    'an allow for any other recipient',
    'GATE2111',
    LIST + rules(rule('allow', leaf('context.to', 'not:everyFact:endsWith', '"@evil.example"'))),
  ],
  ['a range with every address', 'GATE2034', TEXT + rules(rule('allow', text('inCidr', '0.0.0.0/0')))],
  ['a space after a text', 'GATE2034', TEXT + rules(rule('deny', text('equal', '"EUR "')))],
  ['several values in one text', 'GATE2034', TEXT + rules(rule('deny', text('in', '["EUR, USD"]')))],
  ['a wildcard in a whole text', 'GATE2034', TEXT + rules(rule('deny', text('equal', '"/etc/*"')))],
  ['a wildcard at the end of a beginning', 'GATE2034', TEXT + rules(rule('deny', text('startsWith', '"/etc/*"')))],
  ['a pattern as a whole text', 'GATE2034', TEXT + rules(rule('deny', text('equal', '"^/etc/.*$"')))],
  [
    'yes in place of true',
    'GATE2034',
    rules(rule('deny', `{all: [{fact: context.text, operator: exists}, ${text('equal', 'yes')}]}`)),
  ],
  ['words that a bar joins', 'GATE2034', TEXT + rules(rule('deny', text('equal', '"POST|PUT|DELETE"')))],
  ['a wildcard at the end of a name', 'GATE2034', TEXT + rules(rule('deny', text('equal', '"prod-*"')))],
  ['a wildcard inside a path', 'GATE2034', TEXT + rules(rule('deny', text('in', '["/home/*/x"]')))],
  ['a wildcard for all of a folder', 'GATE2034', TEXT + rules(rule('deny', text('startsWith', '"/etc/**"')))],
  ['a file name without the slash before it', 'GATE2110', TEXT + rules(rule('allow', text('endsWith', 'README.md')))],
  ['a separator of thousands', 'GATE2034', AMOUNT + rules(rule('deny', amount('greaterThan', '10.000')), ALLOW)],
  [
    'factors that never reach a threshold',
    'GATE2107',
    'risk:\n  - {name: f, actions: [x], weight: 30}\nrules:\n  - {id: a, actions: [x], effect: allow, reason: R.}\n',
  ],
  [
    'a percentage of a fraction',
    'GATE2011',
    AMOUNT.replace('minimum: 0', 'minimum: 0, maximum: 1') + rules(rule('deny', amount('greaterThan', '80')), ALLOW),
  ],
  [
    'an approval for another parent of the amount',
    'GATE2038',
    `actions: {pay.out: {context: {type: object, required: [payment], properties: {payment: {type: object, required: [amount], properties: {amount: {type: number}}}}}}}
${rules(rule('require_approval', leaf('context.payment.amount', 'greaterThan', '5')).replace('when:', 'approval: {unbound: [context.payment]}, when:'))}`,
  ],
  [
    'an approval for another amount that only a factor reads',
    'GATE2038',
    `approval: {unbound: [context.amount]}\nrisk: [{name: f, actions: [pay.out], weight: 60, scale: {fact: context.amount, from: 0, to: 1000}}]\n${AMOUNT}${rules(ALLOW)}`,
  ],
  [
    'an approval for another amount that is added up',
    'GATE2038',
    `history: {sum: {paid: {actions: [pay.out], fact: context.amount, within: 1d, by: tenant}}}
${AMOUNT}${rules(rule('require_approval', leaf('history.sum.paid', 'greaterThan', '1000')).replace('when:', 'approval: {unbound: [context.amount]}, when:'))}`,
  ],
  [
    'a hold of the fifth action alone',
    'GATE2040',
    COUNT + AMOUNT + rules(rule('require_approval', count('equal', 5)), ALLOW),
  ],
  [
    'a factor for the third action alone',
    'GATE2040',
    `${COUNT}${AMOUNT}risk: [{name: f, actions: [pay.out], weight: 50, when: ${count('equal', 3)}}]\n${rules(ALLOW)}`,
  ],
  [
    'a limit that a sum goes past',
    'GATE2040',
    `history: {sum: {paid: {actions: [pay.out], fact: context.amount, within: 1d, by: tenant}}}
${AMOUNT}${rules(rule('deny', leaf('history.sum.paid', 'equal', '1000')), ALLOW)}`,
  ],
  ['a domain of no action', 'GATE2041', `domains: {finance: ["pays.*"]}\n${rules(ALLOW)}`],
  ['a backspace in a pattern', 'GATE2035', TEXT + rules(rule('deny', text('matches', '"\\brm\\b"')))],
  [
    'a pattern with the line break of its block',
    'GATE2035',
    `${TEXT}rules:\n  - id: r\n    actions: [pay.out]\n    effect: deny\n    reason: R.\n    when:\n      fact: context.text\n      operator: matches\n      value: >\n        drop\n`,
  ],
  ['a literal of JavaScript', 'GATE2035', TEXT + rules(rule('deny', text('matches', '"/drop table/i"')))],
  ['a pattern that a line break evades', 'GATE2035', TEXT + rules(rule('deny', text('matches', '"^.*drop"')))],
  ['an end that a line break evades', 'GATE2035', TEXT + rules(rule('deny', text('matches', '"(?i)drop.*$"')))],
  [
    'a comma that is missing in a list',
    'GATE2034',
    TEXT + rules(rule('deny', text('in', '[IR,\n      KP\n      SY, CU]'))),
  ],
  [
    'a comma that is missing in a named list',
    'GATE2034',
    `lists: {l: {values: [IR,\n  KP\n  SY, CU]}}\n${TEXT}${rules(rule('deny', text('inList', 'l')))}`,
  ],
  ...[
    ['additionalProperties among the members', 'additionalProperties: false'],
    ['a limit for texts beside the type number', 'amount: {type: number, maxLength: 4}'],
    ['a limit for numbers beside no type', 'amount: {minimum: 0}'],
    ['a limit for numbers beside no type, further down', 'of: {type: object, properties: {amount: {minimum: 0}}}'],
  ].map(([name, member]): [string, string, string] => [
    `a schema with ${name}`,
    'GATE2042',
    `actions: {pay.out: {context: {type: object, properties: {${member}}}}}\n${rules(ALLOW)}`,
  ]),
  ['a part of a text asked for as an item', 'GATE2011', TEXT + rules(rule('deny', text('contains', 'DROP')), ALLOW)],
  [
    'a list asked as a text',
    'GATE2011',
    LIST + rules(rule('deny', leaf('context.to', 'endsWith', '"@evil.example"')), ALLOW),
  ],
  [
    'a member of the items of a list',
    'GATE2007',
    `actions: {pay.out: {context: {type: object, required: [items], properties: {items: {type: array, items: {type: object, required: [price], properties: {price: {type: number}}}}}}}}
${rules(rule('deny', leaf('context.items.price', 'greaterThan', '5')), ALLOW)}`,
  ],
  ['hosts that a comma joins', 'GATE2034', TEXT + rules(rule('deny', text('in', '["evil.example, bad.example"]')))],
]

/** Policies that look like a mistake and are none. */
export const SOUND: [name: string, policy: string][] = [
  [
    'an anchor at the beginning of a group',
    TEXT + rules(rule('deny', text('matches', `'(?:^|[^0-9])[0-9]{11}(?:[^0-9]|$)'`))),
  ],
  ['a list with both letter cases', TEXT + rules(rule('deny', text('in', '[eur, EUR]')))],
  ['anchors for each alternative', TEXT + rules(rule('allow', text('matches', '"^GET$|^HEAD$"')))],
  ['alternatives in brackets', TEXT + rules(rule('allow', text('matches', '"^(GET|HEAD)$"')))],
  ['a dollar sign and a caret', TEXT + rules(rule('deny', text('matches', '"US\\\\$[0-9]|a[$^]b"')))],
  ['anchors beside groups and alternatives', TEXT + rules(rule('deny', text('matches', '"(^|,)a(,|$)|(?m)a$b"')))],
  ['a backslash in a path', TEXT + rules(rule('deny', text('matches', `'C:\\\\data'`)))],
  [
    'a folder, a host and a domain to their ends',
    TEXT +
      rules(
        rule('allow', text('startsWith', '/workspace/'), 'a'),
        rule('allow', text('startsWith', '"https://a.example/"'), 'b'),
        rule('allow', text('endsWith', '.example.com'), 'c'),
        rule('allow', text('endsWith', '"@example.com"'), 'd'),
      ),
  ],
  ['a count from the second one', COUNT + AMOUNT + rules(rule('deny', count('greaterThan', 1)), ALLOW)],
  ['a star as a whole text', TEXT + rules(rule('deny', text('equal', '"*"')))],
  ['a time, which is a text in a schema', TEXT + rules(rule('deny', text('before', '"2026-01-01T00:00:00Z"')))],
  [
    'yes in quotes, and Norway',
    TEXT + rules(rule('deny', text('equal', '"yes"'), 'a'), rule('deny', text('in', '[no, se]'), 'b')),
  ],
  ['a number with decimals', AMOUNT + rules(rule('deny', amount('greaterThan', '10.25')), ALLOW)],
  ['a number with three decimals', AMOUNT + rules(rule('deny', amount('greaterThan', '99.999')), ALLOW)],
  [
    'spaces that end a word, and begin one',
    TEXT + rules(rule('deny', text('startsWith', '"rm "'), 'a'), rule('allow', text('endsWith', '" bcc"'), 'b')),
  ],
  ...[
    ['team-a', 'team-b'],
    ['finance-de', 'finance-fr'],
    ['level1', 'level2'],
    ['sales', 'scales'],
  ].map(([one, other]): [string, string] => [
    `the approver groups ${one} and ${other}`,
    `rules:\n  - ${HOLD.replace('treasury', `${one}`)}\n  - ${HOLD.replace('id: a', 'id: b').replace('[x]', '[y]').replace('treasury', `${other}`)}\n`,
  ]),
  ['the beginning of a file name', TEXT + rules(rule('allow', text('startsWith', '/tmp/agent-')))],
  ['no for Norway in a fact of texts', TEXT + rules(rule('deny', text('equal', 'no')))],
  [
    'facts of one name and two types',
    `actions:
  door.open: {context: {type: object, required: [code], properties: {code: {type: string}}}}
  pay.out: {context: {type: object, required: [code], properties: {code: {type: integer}}}}
rules:
  - {id: a, actions: [door.open], effect: deny, reason: R., when: ${leaf('context.code', 'equal', '"0000"')}}
${rule('deny', leaf('context.code', 'lessThan', '400'))}`,
  ],
  [
    'flags of one letter',
    TEXT + rules(rule('deny', text('equal', '-d'), 'a'), rule('deny', text('in', '[-D, -f]'), 'b')),
  ],
  [
    'schemas that list both letter cases',
    `actions:
  pay.in: {context: {type: object, required: [text], properties: {text: {enum: [OPEN, DONE]}}}}
  pay.out: {context: {type: object, required: [text], properties: {text: {enum: [open, done]}}}}
rules:
  - {id: a, actions: [pay.in], effect: deny, reason: R., when: ${text('equal', 'OPEN')}}
${rule('deny', text('equal', 'open'))}`,
  ],
  [
    'a default with which nothing is allowed',
    `facts: {context.ok: {type: boolean, default: false}}\n${rules(rule('allow', leaf('context.ok', 'equal', 'true')))}`,
  ],
  [
    'an unbound path that no rule compares',
    AMOUNT +
      rules(
        rule('require_approval', amount('greaterThan', '5')).replace(
          'when:',
          'approval: {unbound: [context.id]}, when:',
        ),
      ),
  ],
  [
    'one of several recipients, when all are asked for too',
    LIST +
      rules(
        rule(
          'allow',
          `{all: [${leaf('context.to', 'everyFact:endsWith', '"@acme.example"')}, ${leaf('context.to', 'someFact:equal', 'a@acme.example')}]}`,
        ),
      ),
  ],
  ['a label that must be there', LIST + rules(rule('deny', leaf('context.to', 'not:someFact:equal', 'audit')), ALLOW)],
  [
    'a rule for the absence of a fact that another compares',
    rules(
      rule('deny', '{fact: context.amount, operator: missing}', 'none'),
      rule('require_approval', amount('greaterThan', '5')),
    ),
  ],
  ...[
    ['every branch', 'anyOf: [{required: [amount, iban]}, {required: [amount, card]}]'],
    ['a part', 'allOf: [{required: [amount], properties: {amount: {type: number, minimum: 0}}}]'],
  ].map(([name, keyword]): [string, string] => [
    `a fact that ${name} of the schema requires, and a sum of it`,
    `history: {sum: {paid: {actions: [pay.out], fact: context.amount, within: 1d, by: tenant}}}
actions: {pay.out: {context: {type: object, ${keyword}}}}
${rules(rule('deny', amount('greaterThan', '5'), 'a'), rule('deny', leaf('history.sum.paid', 'greaterThan', '1000'), 'b'), ALLOW)}`,
  ]),
  [
    'a bound under allOf of a member that is added up',
    `history: {sum: {paid: {actions: [pay.out], fact: context.amount, within: 1d, by: tenant}}}
actions: {pay.out: {context: {type: object, required: [amount], properties: {amount: {allOf: [{type: number}, {minimum: 0}]}}}}}
${rules(rule('deny', leaf('history.sum.paid', 'greaterThan', '1000')), ALLOW)}`,
  ],
  [
    'an unbound path that a deny compares, which is asked again',
    AMOUNT +
      rules(
        rule('deny', amount('greaterThan', '5'), 'd'),
        rule('require_approval', leaf('environment', 'equal', 'live')).replace(
          'when:',
          'approval: {unbound: [context.amount]}, when:',
        ),
      ),
  ],
  ['a hold of the first action', COUNT + AMOUNT + rules(rule('require_approval', count('equal', 1)), ALLOW)],
  ['a deny at a count, which stays', COUNT + AMOUNT + rules(rule('deny', count('equal', 5)), ALLOW)],
  [
    'a domain of actions that are declared alone',
    `domains: {finance: ["pay.*"]}\n${AMOUNT}${rules(ALLOW.replace('pay.out', 'x'))}`,
  ],
  [
    'patterns that take line breaks, or that allow',
    TEXT +
      rules(
        rule('deny', text('matches', '"(?s)^.*drop"'), 'a'),
        rule('deny', text('matches', "'^\\.*$'"), 'b'),
        rule('allow', text('matches', '"^drop .*$"'), 'c'),
        rule('deny', text('matches', '/home/my'), 'd'),
      ),
  ],
  [
    'limits in parts of a schema whose type stands elsewhere',
    `actions: {pay.out: {context: {type: object, properties: {amount: {type: [number, string], minimum: 0, maxLength: 9}}, anyOf: [{properties: {amount: {maximum: 9}}}, {required: [id]}]}}}\n${rules(ALLOW)}`,
  ],
]

/** Policies with the constant that is suggested for their only mistake. */
export const SUGGESTED: [suggestion: string | null, policy: string][] = [
  ['/README.md', TEXT + rules(rule('allow', text('endsWith', 'README.md')))],
  ['".example.com"', TEXT + rules(rule('allow', text('endsWith', 'example.com')))],
  [null, TEXT + rules(rule('allow', text('startsWith', '"https://api."')))],
  ['"rm "', TEXT + rules(rule('deny', text('startsWith', '" rm "')))],
  ['"\\\\brm\\\\b"', TEXT + rules(rule('deny', text('matches', '"\\brm\\b"')))],
  ['"(?i)drop table"', TEXT + rules(rule('deny', text('matches', '"/drop table/gi"')))],
  ['"(?i)drop"', TEXT + rules(rule('deny', text('matches', '"(?i)^.*drop.*$"')))],
  ['matches', TEXT + rules(rule('deny', text('contains', 'DROP')), ALLOW)],
  [null, LIST + rules(rule('allow', leaf('context.to', 'endsWith', '"@acme.example"')))],
]
