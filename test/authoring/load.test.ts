import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DIAGNOSTICS } from '../../src/authoring/diagnostics/diagnostics.ts'
import { formatDiagnostic } from '../../src/authoring/diagnostics/text.ts'
import { domainOf } from '../../src/policies/set.ts'
import { combineTerms } from '../../src/policies/terms.ts'
import { HEADER, load, setOf, testdata, testdataNames } from './sources.ts'

for (const name of testdataNames('valid')) {
  test(`valid: ${name} loads without an error`, () => {
    const { set, diagnostics } = load({ [name]: testdata(`valid/${name}`) })
    assert.deepEqual(
      diagnostics.filter(({ severity }) => severity === 'error'),
      [],
    )
    assert.ok(set !== undefined)
  })
}

test('order: rules stand in the order of file names, then of the document', () => {
  const rule = (id: string) =>
    `rules:\n  - {id: ${id}1, actions: [a.b], effect: deny, reason: R.}\n  - {id: ${id}2, actions: [a.c], effect: deny, reason: R.}\n`
  const { set } = load({ 'b.yaml': HEADER + rule('b'), 'a.yml': HEADER + rule('a') })
  assert.deepEqual(
    set?.rules.map(({ id }) => id),
    ['a1', 'a2', 'b1', 'b2'],
  )
  assert.deepEqual(set?.files, ['a.yml', 'b.yaml'])
})

test('settings: what is left out has its default', () => {
  const set = setOf('')
  assert.deepEqual(set.defaults, { decision: 'deny', reason: 'No rule allows this action.' })
  assert.deepEqual(set.thresholds, { requireApproval: 40, deny: 80 })
  assert.deepEqual(set.approval, { quorum: 1, expiresInMs: 1_800_000, selfApproval: false, approvers: [], unbound: [] })
  assert.deepEqual([set.timezone, set.explain], ['UTC', 'full'])
})

test('approval: the terms of a rule stand over those of the set, key by key', () => {
  const set = setOf(`approval: {quorum: 2, approvers: [a, b], unbound: ['context["x"]']}
rules:
  - {id: r, actions: [a.b], effect: require_approval, reason: R., approval: {expiresIn: 1h, approvers: [c]}}
`)
  const wanted = { quorum: 2, expiresInMs: 3_600_000, selfApproval: false, approvers: [['c']], unbound: ['context.x'] }
  assert.deepEqual(set.rules[0]?.terms, wanted)
})

test('combineTerms: asks for everything that any of them asks for', () => {
  const a = { quorum: 1, expiresInMs: 10, selfApproval: true, approvers: [['a']], unbound: ['context.x', 'context.y'] }
  const b = { quorum: 3, expiresInMs: 20, selfApproval: false, approvers: [['a'], ['b']], unbound: ['context.y'] }
  const wanted = { quorum: 3, expiresInMs: 10, selfApproval: false, approvers: [['a'], ['b']], unbound: ['context.y'] }
  assert.deepEqual(combineTerms([a, b]), wanted)
  assert.deepEqual(combineTerms([a]), a)
  assert.throws(() => combineTerms([]), TypeError)
})

test('domainOf: the domain whose pattern covers the action', () => {
  const set = setOf('domains: {finance: ["pay.*", "refund.*"], mail: ["mail.**"]}\n')
  assert.deepEqual(
    ['pay.a', 'refund.a', 'mail', 'mail.a.b', 'pay'].map((action) => domainOf(set, action)),
    ['finance', 'finance', 'mail', 'mail', undefined],
  )
})

test('formatDiagnostic: position, sentence, line, carets, suggestion', () => {
  const [fault] = load({ 'main.yaml': `${HEADER}rulez: []\n` }).diagnostics
  assert.ok(fault !== undefined)
  assert.equal(
    formatDiagnostic(fault, 'rulez: []'),
    'acme/main.yaml:3:1 error GATE1101 There is no key "rulez" here.\n 3 | rulez: []\n   | ^^^^^ did you mean `rules`?\n   = at $.rulez',
  )
})

for (const [text, column, endColumn] of [
  ['rulez: []', 1, 6],
  ['timezone: Europe/Berln  ', 11, 23],
  ['rules: {a: 1,\r\n  b: 2}', 8, 14],
  ['lists: [', 8, 9],
] as const) {
  test(`endColumn: what a fault covers of the line where it begins: ${JSON.stringify(text)}`, () => {
    const [fault] = load({ 'main.yaml': `${HEADER}${text}\n` }).diagnostics
    assert.deepEqual([fault?.column, fault?.endColumn], [column, endColumn])
  })
}

test('codes: every one has a severity that its number tells', () => {
  for (const [code, { severity }] of Object.entries(DIAGNOSTICS)) {
    assert.equal(severity, code.startsWith('GATE2') ? 'warning' : 'error', code)
  }
})
