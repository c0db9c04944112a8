import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Amendment, amended } from '../../src/authoring/format/amend.ts'
import { flowYaml } from '../../src/authoring/format/flow.ts'
import type { Json } from '../../src/base/json.ts'
import { isVisible } from '../../src/base/visible.ts'
import { HEADER, load } from './sources.ts'

test('a text that looks like Latin and is not shows its code points, and is the same text', () => {
  const text = '\u0430cme\u3164 M\u00fcller \u{1f600}'
  const written = flowYaml(text)
  assert.equal(written, String.raw`"\u0430cme\u3164 Müller \ud83d\ude00"`)
  const when = { fact: 'context.a', operator: 'equal', value: text }
  const rule = { id: 'r', actions: ['a'], effect: 'deny', reason: 'R.', when }
  assert.equal(load({ 'main.yaml': `${HEADER}rules: [${flowYaml(rule)}]\n` }).set?.comparisons[0]?.wanted, text)
})

const NOT_SMALL = { not: { condition: 'small' } }
const SMALL = 'conditions: { small: { fact: context.amount, operator: lessThan, value: 5 } }\n'

function textOf(name: string, text: string, ...amendments: Amendment[]): string {
  const source = { tenant: 'acme', files: [{ name, bytes: Buffer.from(text) }], lists: new Map(), ignored: [] }
  const changed = amended(source, amendments).get(name) ?? assert.fail('nothing was changed')
  const { set, diagnostics } = load({ [name]: changed })
  assert.deepEqual(
    [set === undefined, diagnostics.filter(({ severity }) => severity === 'error')],
    [false, []],
    changed,
  )
  return changed
}

const also = (rule = 'r', condition: Json = NOT_SMALL): Amendment => ({ rule, also: condition })
const narrow = (pattern: string, ...names: string[]): Amendment => ({ rule: 'r', actions: new Map([[pattern, names]]) })

const ROWS: [name: string, before: string, after: string, ...amendments: Amendment[]][] = [
  [
    'a condition in brackets keeps its text and its comment',
    'rules:\n  - { id: r, actions: [a], effect: deny, reason: R., when: { fact: context.amount, operator: exists } } # why\n',
    'rules:\n  - { id: r, actions: [a], effect: deny, reason: R., when: { all: [{ not: { condition: small } }, { fact: context.amount, operator: exists }] } } # why\n',
    also(),
  ],
  [
    'a condition in a block keeps its lines and comments, further in',
    'rules:\n  - id: r\n    actions: [a]\n    effect: deny\n    reason: R.\n    when:\n      # first\n      any:\n        - { fact: context.amount, operator: exists } # one\n        - fact: context.b # two\n          operator: exists # three\n',
    'rules:\n  - id: r\n    actions: [a]\n    effect: deny\n    reason: R.\n    when:\n      # first\n      all:\n        - { not: { condition: small } }\n        - any:\n            - { fact: context.amount, operator: exists } # one\n            - fact: context.b # two\n              operator: exists # three\n',
    also(),
  ],
  [
    'a rule without a condition gets one',
    'rules:\n  - id: r\n    actions: [a]\n    effect: deny\n    # it says\n    reason: R.\n',
    'rules:\n  - id: r\n    actions: [a]\n    effect: deny\n    # it says\n    when: { not: { condition: small } }\n    reason: R.\n',
    also(),
  ],
  [
    'a rule on one line as well, and two conditions',
    'rules: [{ id: r, actions: [a], effect: deny, reason: R. }]\n',
    'rules: [{ id: r, actions: [a], effect: deny, when: { all: [{ not: { condition: small } }, { fact: agent, operator: exists }] }, reason: R. }]\n',
    also(),
    also('r', { fact: 'agent', operator: 'exists' }),
  ],
  [
    'a pattern in brackets becomes names',
    'rules: [{ id: r, actions: [b, "a.*"], effect: deny, reason: R. }]\n',
    'rules: [{ id: r, actions: [b, a.x, "1.5"], effect: deny, reason: R. }]\n',
    narrow('a.*', 'a.x', '1.5', 'b'),
  ],
  [
    'a pattern in a block list becomes items',
    'rules:\n  - id: r\n    actions:\n      - b\n      -  "a.*" # all\n    effect: deny\n    reason: R.\n',
    'rules:\n  - id: r\n    actions:\n      - b\n      -  a.x\n      -  a.y # all\n    effect: deny\n    reason: R.\n',
    narrow('a.*', 'a.x', 'a.y'),
  ],
]
for (const [name, before, after, ...amendments] of ROWS) {
  test(`a rule is amended in its text: ${name}`, () => {
    const head = HEADER + SMALL
    assert.equal(textOf('main.yaml', head + before, ...amendments), head + after)
  })
}

test('a file of JSON stays one', () => {
  const rule = { id: 'r', actions: ['a.*'], effect: 'deny', reason: 'R.', when: { fact: 'agent', operator: 'exists' } }
  const conditions = { small: { fact: 'context.amount', operator: 'lessThan', value: 5 } }
  const document = { apiVersion: 'gate-sidecar/v1', tenant: 'acme', conditions, rules: [rule] }
  const changed = textOf('main.json', JSON.stringify(document), also(), narrow('a.*', 'a.x'))
  assert.deepEqual(JSON.parse(changed), {
    ...document,
    rules: [{ ...rule, actions: ['a.x'], when: { all: [NOT_SMALL, rule.when] } }],
  })
})

/** Ends a text, a line or a list, begins a comment or a tag, or cannot be seen. */
const SIGN = fc.constantFrom(
  ...['"', "'", '\\', '\n', ': ', ' #', '{', ']', '- ', '!', '&', '\u202e', '\u0085', '\u2028', '\u007f', '\ufeff'],
)

test('any value is read again as it was, and on one line without anything that cannot be seen', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: SIGN }),
        fc.string(),
        fc.boolean(),
        fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
      ),
      (value) => {
        const text = flowYaml({ fact: 'context.a', operator: 'equal', value: Object.is(value, -0) ? 0 : value })
        assert.ok(isVisible(text), text)
        const { set, diagnostics } = load({
          'main.yaml': `${HEADER}rules: [{ id: r, actions: [a], effect: deny, reason: R., when: ${text} }]\n`,
        })
        const errors = diagnostics.filter(({ severity }) => severity === 'error')
        // A text that no request can hold, or a number that loses digits, is refused, and not read as another.
        if (errors.length === 0)
          assert.deepEqual(set?.comparisons, [{ operator: 'equal', wanted: Object.is(value, -0) ? 0 : value }])
        else
          assert.ok(
            errors.every(({ code }) => ['GATE1015', 'GATE1007', 'GATE1302'].includes(code)),
            JSON.stringify(errors),
          )
      },
    ),
    { numRuns: 500 },
  )
})
