import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEADER, load } from './sources.ts'

const POLICY = `${HEADER}facts:
  context.amount: { type: number, default: 0 }
  context.country: { type: string }
lists:
  banned:
    values: [IR, KP]
conditions:
  large: { fact: context.amount, operator: greaterThan, value: 1000 }
actions:
  payment.transfer:
    context:
      type: object
      required: [amount, country]
      properties:
        amount: { type: number }
        country: { type: string }
domains:
  finance: ["payment.*"]
risk:
  - name: big
    actions: ["payment.*"]
    weight: 30
    when: { condition: large }
rules:
  - id: banned
    actions: [payment.transfer]
    effect: deny
    reason: Banned.
    when: { fact: context.country, operator: inList, value: banned }
  - id: pay
    actions: [payment.transfer]
    effect: allow
    reason: Payments.
    when:
      all:
        - { fact: context.amount, operator: lessThan, value: 500 }
        - { fact: context.country, operator: equal, value: DE }
`

const TESTS = `${HEADER}contexts:
  small: { amount: 5, country: DE }
  large: { amount: 5000, country: DE }
agents:
  bot: { identity: bot }
tests:
  - name: pays
    matrix: { actions: [payment.transfer], contexts: [small, large], agents: [bot] }
    expect:
      small: { decision: allow, rule: pay }
      large: { decision: deny }
  - name: other
    matrix:
      actions: [payment.x]
    expect: { decision: deny }
`

type Edit = (text: string) => string

/** Replaces a part, which must be there. */
const swap =
  (part: string, by: string): Edit =>
  (text) => {
    assert.ok(text.includes(part), part)
    return text.replace(part, () => by)
  }

/** Indents the lines from one that begins with `from` up to one that begins with `to`, or all of the rest. */
const indent =
  (from: string, to = '!', by = '  '): Edit =>
  (text) => {
    const lines = text.split('\n')
    const first = lines.findIndex((line) => line.startsWith(from))
    const last = lines.findIndex((line, i) => i > first && line.startsWith(to))
    return lines.map((line, i) => (i >= first && (last < 0 || i < last) && line !== '' ? by + line : line)).join('\n')
  }

const tabs: Edit = (text) => text.replaceAll('  ', '\t')
const whole =
  (text: string): Edit =>
  () =>
    text

/** Edits that break a file in one way, and all that is said of it: errors and warnings. */
const BROKEN_POLICIES: [name: string, edit: Edit, ...codes: string[]][] = [
  ['nothing', (text) => text],
  ['a section inside the one above it: facts', swap('lists:\n', 'lists:\n  thresholds: { deny: 90 }\n'), 'GATE1101'],
  ['a section inside the one above it: lists', indent('lists:', 'conditions:'), 'GATE1101'],
  ['a section inside the one above it: conditions', indent('conditions:', 'actions:'), 'GATE1101'],
  ['a section inside the one above it: actions', indent('actions:', 'domains:'), 'GATE1101'],
  ['a section inside the one above it: domains', indent('domains:', 'risk:'), 'GATE1101'],
  ['a section inside the one above it: risk', indent('risk:', 'rules:'), 'GATE1101'],
  ['a section inside a list', indent('rules:'), 'GATE1003'],
  ['all sections inside the first', indent('lists:'), 'GATE1101'],
  [
    'all sections inside a key of another language',
    (text) => indent('facts:')(swap('facts:', 'spec:\nfacts:')(text)),
    'GATE1101',
  ],
  ['rules under risk', swap('rules:\n', ''), 'GATE1101'],
  [
    'a factor under rules',
    swap('  - id: pay\n', '  - { name: f, actions: [x], weight: 5 }\n  - id: pay\n'),
    'GATE1101',
  ],
  [
    'a schema directly under its action',
    (text) => swap('    context:\n', '')(text).replace(/^ {6,8}(?=type|req|prop|am|co)/gm, (spaces) => spaces.slice(2)),
    'GATE1101',
  ],
  [
    'members directly under a schema',
    swap('      type: object\n      required: [amount, country]\n      properties:\n', ''),
    'GATE1401',
  ],
  [
    'facts as a list',
    swap(
      '  context.amount: { type: number, default: 0 }\n  context.country: { type: string }\n',
      '  - context.amount: { type: number }\n  - context.country: { type: string }\n',
    ),
    'GATE1103',
  ],
  ['conditions as a list', swap('  large: {', '  - large: {'), 'GATE1103'],
  ['a list of values without its key', swap('  banned:\n    values: [IR, KP]\n', '  banned: [IR, KP]\n'), 'GATE1103'],
  ['a list as a condition', swap('    when:\n      all:\n', '    when:\n'), 'GATE1103'],
  ['tabs in one line', swap('    effect: deny', '\teffect: deny'), 'GATE1003'],
  ['tabs in all lines', tabs, 'GATE1003'],
  ['a NUL byte', swap('Banned.', 'Ban\0ned.'), 'GATE1003'],
  ['many NUL bytes', swap('Banned.', '\0'.repeat(30)), 'GATE1003'],
  [
    'a merge key',
    (text) =>
      swap('  - id: banned', '  - &base\n    id: banned')(swap('  - id: pay\n', '  - <<: *base\n    id: pay\n')(text)),
    'GATE1010',
  ],
  ['a repeated section', (text) => `${text}facts:\n  context.x: { type: string }\n`, 'GATE1011'],
  ['a repeated key', swap('    effect: deny\n', '    effect: deny\n    effect: allow\n'), 'GATE1011'],
  ['a dash that is missing', swap('  - id: pay', '    id: pay'), 'GATE1011'],
  ['a quote that is not closed', swap('reason: Banned.', 'reason: "Banned.'), 'GATE1003'],
  [
    'a bracket that is not closed',
    swap('[payment.transfer]\n    effect: deny', '[payment.transfer\n    effect: deny'),
    'GATE1003',
  ],
  ['a bracket too many', swap('value: banned }', 'value: banned }}'), 'GATE1003'],
  ['a key out of line', swap('    effect: deny', '   effect: deny'), 'GATE1003'],
  ['a second document', swap('rules:', '---\nrules:'), 'GATE1006'],
  [
    'JSON that is cut off',
    whole(
      '{"apiVersion": "gate-sidecar/v1", "tenant": "acme", "rules": [{"id": "a", "actions": ["a"], "effect": "allow", "reason": "R."}',
    ),
    'GATE1003',
  ],
]

const BROKEN_TESTS: [name: string, edit: Edit, ...codes: string[]][] = [
  ['nothing', (text) => text],
  ['a stray bracket', swap('contexts:\n', ']\ncontexts:\n'), 'GATE1003'],
  ['a bracket too many', swap('[small, large]', '[small, large]]'), 'GATE1003'],
  ['a bracket that is not closed', swap('[small, large]', '[small, large'), 'GATE1003'],
  ['a brace that is not closed', swap('country: DE }', 'country: DE'), 'GATE1003'],
  ['a quote that is not closed', swap('name: pays', 'name: "pays'), 'GATE1003'],
  ['brackets alone', whole(']]]}}}\n'), 'GATE1003'],
  ['open brackets alone', whole('[[[[[[\n'), 'GATE1003'],
  ['prose', whole('This is a file of tests, which somebody will write.\n'), 'GATE1503'],
  ['tabs in all lines', tabs, 'GATE1003'],
  ['NUL bytes alone', whole('\0'.repeat(100)), 'GATE1003'],
  ['tests inside agents', indent('tests:'), 'GATE1501'],
  ['fixtures inside the tests', swap('  - name: pays\n', '  contexts:\n    a: {x: 1}\n  - name: pays\n'), 'GATE1003'],
  ['fixtures inside the tenant', indent('contexts:', 'agents:'), 'GATE1003'],
  [
    'fixtures as a list',
    (text) => text.replace('  small: { am', '  - small: { am').replace('  large: { am', '  - large: { am'),
    'GATE1503',
  ],
  [
    'tests by name',
    (text) => text.replace('  - name: pays', '  pays:').replace('  - name: other', '  other:'),
    'GATE1503',
  ],
  [
    'the matrix directly under its test',
    swap('    matrix:\n      actions: [payment.x]\n', '    actions: [payment.x]\n'),
    'GATE1501',
  ],
  [
    'an expectation beside its test',
    swap(
      '    expect:\n      small: { decision: allow, rule: pay }\n      large: {',
      '  expect:\n    small: { decision: allow, rule: pay }\n    large: {',
    ),
    'GATE1003',
  ],
]

const KINDS = [
  { kind: 'policy', cases: BROKEN_POLICIES, files: (edit: Edit) => ({ 'main.yaml': edit(POLICY) }) },
  { kind: 'tests', cases: BROKEN_TESTS, files: (edit: Edit) => ({ 'main.yaml': POLICY, 'a.test.yaml': edit(TESTS) }) },
]
for (const { kind, cases, files } of KINDS) {
  for (const [name, edit, ...codes] of cases) {
    test(`one cause is one fault: ${kind}: ${name}`, () => {
      const { diagnostics } = load(files(edit))
      assert.deepEqual(
        diagnostics.map(({ code }) => code),
        codes,
        JSON.stringify(diagnostics.map(({ line, message }) => `${line} ${message}`)),
      )
    })
  }
}
