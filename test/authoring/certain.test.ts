import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEADER, load, marked } from './sources.ts'

const R = (id: string, rest: string, effect = 'allow') =>
  `  - {id: ${id}, actions: [a.b], effect: ${effect}, reason: R.${rest}}\n`
const WHEN = (when: string) => `, when: ${when}`
const A = (operator: string, value: unknown) => `{fact: context.a, operator: ${operator}, value: ${value}}`
const NEVER = `{«2011»all: [${A('equal', 1)}, ${A('equal', 2)}]}`
const FAULTY = R('faulty', '').replace('effect: allow', 'effect: «1104»alow')

/** Sets with errors: what is said beside them is marked too. */
const ROWS: [name: string, files: Record<string, string>][] = [
  ['a rule without fault is analysed', { 'a.yaml': `rules:\n${FAULTY}${R('r', WHEN(NEVER))}` }],
  [
    'a rule with an error is not',
    { 'a.yaml': `rules:\n${FAULTY.replace('R.}', `R., when: {all: [${A('equal', 1)}, ${A('equal', 2)}]}}`)}` },
  ],
  [
    'a factor and a condition without fault are analysed',
    {
      'a.yaml': `conditions: {c: ${NEVER}}\nrisk:\n  - {name: f, actions: [a], weight: 9, when: ${NEVER}}\nrules:\n${FAULTY}${R('r', WHEN('{condition: c}')).replace('id: r', 'id: «2006»r')}`,
    },
  ],
  [
    'a rule that another always decides before',
    { 'a.yaml': `rules:\n${FAULTY}${R('«2006»a', '')}${R('b', '', 'deny')}` },
  ],
  [
    'a condition that could not be read is not the absence of one',
    { 'a.yaml': `rules:\n${R('a', '')}${R('b', WHEN('{fact: context.a, operator: «1206»zzzzzz, value: 1}'), 'deny')}` },
  ],
  [
    'nor is one that may be declared where nothing could be read',
    { 'a.yaml': `rules:\n${R('a', '')}${R('b', WHEN('{condition: c}'), 'deny')}`, 'b.yaml': 'conditions: «1003»[\n' },
  ],
  [
    'a rule that refers to a faulty condition, by another',
    {
      'a.yaml': `conditions:\n  c: {fact: «1204»"..", operator: equal, value: 1}\n  d: {not: {condition: c}}\nrules:\n${R('a', '')}${R('b', WHEN('{any: [{condition: d}, {fact: context.a, operator: exists}]}'), 'deny')}`,
    },
  ],
  [
    'conditions in a cycle',
    {
      'a.yaml': `conditions:\n  «1210»c: {condition: d}\n  «1210»d: {condition: c}\nrules:\n${R('a', '')}${R('b', WHEN('{condition: d}'), 'deny')}`,
    },
  ],
  ['rules of one id', { 'a.yaml': `rules:\n${R('«1201»r', '')}${R('«1201»r', '', 'deny')}` }],
  [
    'a scale that could not be read is not the absence of one',
    {
      'a.yaml': `risk:\n  - {name: f, actions: ["**"], weight: 100, scale: {fact: «1205»amount, from: 0, to: 1}}\nrules:\n${R('a', '')}`,
    },
  ],
  [
    'thresholds that are not known are not reached',
    {
      'a.yaml': `thresholds: {deny: «1106»800}\nrisk:\n  - {name: f, actions: ["**"], weight: 100}\nrules:\n${R('a', '')}`,
    },
  ],
  [
    'a list at fault may hold anything',
    {
      'a.yaml': `lists: {l: {values: [DE, «1103»{}]}}\nrules:\n${R('r', WHEN(`{all: [${A('inList', 'l')}, ${A('equal', 'FR')}]}`))}`,
    },
  ],
  [
    'a fact at fault may have a default',
    {
      'a.yaml': `facts: {context.a: {type: number, default: «1308»x}}\nrules:\n${R('r', WHEN(A('equal', 1)), 'deny')}`,
    },
  ],
  [
    'a schema at fault may require the fact',
    {
      'a.yaml': `actions: {a.b: {context: {type: object, «1401»requires: [a]}}}\nrules:\n${R('r', WHEN(A('equal', 1)), 'deny')}`,
    },
  ],
  [
    'a file that could not be read may declare domains, facts and schemas, but changes no contradiction',
    {
      'a.yaml': `rules:\n${R('r', WHEN('{fact: domain, operator: exists}'))}${R('s', WHEN(A('equal', 1)), 'deny')}${R('t', WHEN(NEVER))}`,
      'b.yaml': 'domains: «1003»[\n',
    },
  ],
  [
    'what is written in a file that could not be read as it stands',
    { 'a.yaml': `rules:\n${R('a', '')}`, 'b.yaml': `rules:\n${R('b', '', 'deny')}lists: «1003»[\n` },
  ],
  [
    'a fault of a test file hides nothing',
    { 'a.yaml': `rules:\n${R('r', WHEN(NEVER))}`, 'a.test.yaml': 'tests: «1503»{}\n' },
  ],
  [
    'a name that an unreadable part may use',
    {
      'a.yaml': `lists: {l: {values: [a]}, «2002»m: {values: [a]}}\nrules:\n${R('r', ', «1101»wenn_nur: {fact: context.a, operator: inList, value: l}')}`,
    },
  ],
]

for (const [name, files] of ROWS) {
  test(`lint beside errors: ${name}`, () => {
    const read = Object.entries(files).map(([file, text]) => ({ file, ...marked(HEADER + text) }))
    const { set, diagnostics } = load(Object.fromEntries(read.map(({ file, text }) => [file, text])))
    const spots = diagnostics.map(({ file, code, line, column }) => `${file} ${line}:${column} ${code}`)
    const wanted = read.flatMap(({ file, wanted }) =>
      wanted.map(([code, line, column]) => `acme/${file} ${line}:${column} ${code}`),
    )
    assert.deepEqual(spots.sort(), wanted.sort(), JSON.stringify(diagnostics, null, 1))
    assert.equal(set, undefined)
  })
}

test('lint beside errors: thousands of conditions that lead to a faulty one are left out in no long time', () => {
  const conditions = Array.from({ length: 5000 }, (_, i) => `  c${i}: {condition: c${i + 1}}\n`).join('')
  const text = `${HEADER}conditions:\n${conditions}  c5000: {fact: context.a, operator: zzzzzz, value: 1}\nrules:\n${R('r', WHEN('{condition: c0}'))}`
  const { diagnostics } = load({ 'a.yaml': text })
  assert.deepEqual([...new Set(diagnostics.map(({ code }) => code))].sort(), ['GATE1206', 'GATE1215'])
})
