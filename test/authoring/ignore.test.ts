import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorMs } from '../processor.ts'
import { HEADER, load, marked, spots } from './sources.ts'

/** A deny rule of which loading says GATE2007 at its fact, with comments in its places. */
const rule = ({ above = '', id = '', aboveWhen = '', inWhen = '', fact = '' }) => `rules:
${above}  - id: r${id}
    actions: [a.b]
    effect: deny
    reason: R.
${aboveWhen}    when:
${inWhen}      fact: ${fact.startsWith('«') ? fact : `context.a${fact}`}
      operator: equal
      value: 1
`
const REASON = '# lint-ignore GATE2007: the caller always sends it'

const ROWS: [name: string, text: string][] = [
  ['nothing is ignored without a comment', rule({ fact: '«2007»context.a' })],
  ['on the line', rule({ fact: ` ${REASON}` })],
  ['above the line', rule({ inWhen: `      ${REASON}\n` })],
  ['above the entry that holds it', rule({ aboveWhen: `    ${REASON}\n` })],
  ['above the item that holds it', rule({ above: `  ${REASON}\n` })],
  ['above other comments and an empty line', rule({ above: `  ${REASON}\n  # It does, since May.\n\n` })],
  ['on another line', rule({ id: ` «2024»${REASON}`, fact: '«2007»context.a' })],
  [
    'above another entry',
    rule({ above: '', aboveWhen: '', inWhen: '', fact: '«2007»context.a' }).replace(
      '    effect',
      `    «2024»${REASON}\n    effect`,
    ),
  ],
  [
    'above a rule, for the one after it too: no',
    `${rule({ above: `  «2024»${REASON}\n`, fact: '' }).replace('effect: deny', 'effect: allow')}  - {id: s, actions: [s], effect: deny, reason: R., when: {fact: «2007»context.b, operator: equal, value: 1}}\n`,
  ],
  ['above the section', rule({ fact: '' }).replace('rules:', `${REASON}\nrules:`)],
  [
    'in a text, where it is no comment',
    rule({ fact: '«2007»context.a' }).replace('reason: R.', `reason: |\n      ${REASON}\n      on two lines`),
  ],
  [
    'in quotes, where it is no comment',
    rule({ fact: '«2007»context.a' }).replace('reason: R.', `reason: "R. ${REASON}"`),
  ],
  [
    'two codes, two comments',
    rule({ above: `  ${REASON}\n  # lint-ignore GATE2011: for now\n` })
      .replace('operator: equal\n      value: 1', 'operator: equal\n      value: 1')
      .replace(
        'when:\n',
        'when:\n      all:\n        - { fact: context.a, operator: lessThan, value: 1 }\n        - { fact: context.a, operator: greaterThan, value: 1 }\n',
      )
      .replace(/ {6}fact: context\.a\n {6}operator: equal\n {6}value: 1\n/, ''),
  ],
  ['without a reason', rule({ fact: ` «2021»# lint-ignore GATE2007:` }).replace('context.a', '«2007»context.a')],
  ['without a code', rule({ fact: ` «2021»# lint-ignore` }).replace('context.a', '«2007»context.a')],
  ['an unknown code', rule({ fact: ` «2022»# lint-ignore GATE2777: why` }).replace('context.a', '«2007»context.a')],
  ['an error', rule({ fact: ` «2023»# lint-ignore GATE1101: why` }).replace('context.a', '«2007»context.a')],
  [
    'a fault of such a comment',
    rule({ fact: ` «2023»# lint-ignore GATE2024: why` }).replace('context.a', '«2007»context.a'),
  ],
  [
    'a code of advice, which loading does not look for',
    rule({ above: '  # lint-ignore GATE2105: why\n', fact: '«2007»context.a' }),
  ],
  ['words that begin alike', rule({ above: '  # lint-ignored GATE2007: no\n', fact: '«2007»context.a' })],
]

for (const [name, source] of ROWS) {
  test(`lint-ignore: ${name}`, () => {
    const { text, wanted } = marked(HEADER + source)
    const { set, diagnostics } = load({ 'main.yaml': text })
    assert.deepEqual(spots(diagnostics), wanted, JSON.stringify(diagnostics))
    assert.ok(set !== undefined)
  })
}

test('lint-ignore: CRLF, tabs and a mark at the beginning of the file do not move what it is about', () => {
  const text = `\ufeff${HEADER}${rule({ fact: `\t${REASON}` })}`.replaceAll('\n', '\r\n')
  assert.deepEqual(spots(load({ 'main.yaml': text }).diagnostics), [])
})

test('lint-ignore: an error stays, and what else is not there is not said while there are errors', () => {
  const text = `${HEADER}rulez: [] # lint-ignore GATE1101: meant\n${rule({ above: '  # lint-ignore GATE2011: why\n' })}`
  assert.deepEqual(
    load({ 'main.yaml': text }).diagnostics.map(({ code }) => code),
    ['GATE1101', 'GATE2023', 'GATE2007'],
  )
})

test('lint-ignore: thousands of them, and of lines between, take no longer than the file does', () => {
  const comments = Array.from({ length: 15_000 }, () => '  # lint-ignore GATE2007: why\n').join('')
  const start = processorMs()
  const { diagnostics } = load({ 'main.yaml': `${HEADER}${rule({ above: comments })}` })
  assert.ok(diagnostics.some(({ code }) => code === 'GATE2021'))
  assert.ok(processorMs() - start < 5000)
})
