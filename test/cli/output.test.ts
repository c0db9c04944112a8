import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GateError } from '../../src/base/errors.ts'
import { failureOf } from '../../src/cli/failure.ts'
import { padded, table } from '../../src/cli/output.ts'
import { plainText } from './io.ts'

/** Texts and how many columns a terminal needs for them. */
const WIDTHS: [text: string, columns: number][] = [
  ['ann', 3],
  ['山田太郎', 8],
  ['ｱﾝ', 2],
  ['한국', 4],
  ['、', 2],
  ['𠮷', 2],
  ['👍', 2],
  ['e\u0301', 1],
  ['é', 1],
  ['\u202e', 8],
]

for (const [text, columns] of WIDTHS) {
  test(`${JSON.stringify(text)} takes ${columns} columns of a table`, () => {
    const rows = [text, '-'.repeat(12)].map((cell) => [cell, '|'])
    const [, row = ''] = plainText(table(['', ''], rows))
    assert.equal(row, `${plainText([text])}${' '.repeat(12 - columns)}  |`)
    assert.equal(padded(text, 12).length - text.length, 12 - columns)
  })
}

test('what others wrote stays on one line of an error, and steers no terminal', () => {
  const { message } = failureOf(
    new GateError('kill_switch_active', 'Kill switch L3 is active: odd\u001b[31m\nok \u202e'),
  )
  assert.equal(message, 'Kill switch L3 is active: odd\\u{1b}[31m\\u{a}ok \\u{202e}')
})

test('a refused request is told in the words of the command line', () => {
  const told = (text: string) => failureOf(new GateError('invalid_request', text)).message
  assert.equal(told('/groups/0 must not be empty'), '--group must not be empty')
  assert.equal(told('expiresAt must be a future time'), '--expires-at must be a future time')
  assert.equal(told('endDate lies before startDate.'), '--to lies before --from.')
})
