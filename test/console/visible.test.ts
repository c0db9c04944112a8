import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isReordered, type Part, spelledOut, visibleParts } from '../../src/console/ui/visible.ts'

test('no character of a text is lost or changed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, severalLines) => {
      const parts = visibleParts(text, severalLines)
      assert.equal(parts.map((part) => part.text).join(''), text)
    }),
  )
})

const marked = (text: string, kind: Part['kind']) =>
  visibleParts(text)
    .filter((part) => part.kind === kind)
    .map((part) => part.text)
    .join('')

const HIDDEN: [what: string, text: string, found: string][] = [
  ['turns what follows around', 'a\u202eb', '\u202e'],
  ['isolates', '\u2066a\u2069', '\u2066\u2069'],
  ['has no width', 'pay\u200bpal', '\u200b'],
  ['joins', 'a\u200db', '\u200d'],
  ['is a soft hyphen', 'pay\u00adpal', '\u00ad'],
  ['is a control', 'a\u0000\u001bb\u009b', '\u0000\u001b\u009b'],
  ['is another space', 'a\u00a0b\u3000', '\u00a0\u3000'],
  ['separates lines', 'a\u2028b', '\u2028'],
  ['is a tag', 'a\u{e0041}', '\u{e0041}'],
  ['selects a variation', 'a\ufe0f', '\ufe0f'],
  ['fills', 'a\u3164\u115f', '\u3164\u115f'],
  ['is an empty braille cell', 'bo\u2800t', '\u2800'],
  ['is half of a character', 'a\ud800b', '\ud800'],
  ['is nobody’s', 'a\ue000', '\ue000'],
  ['strikes out', '1000\u0336', '\u0336'],
  ['covers', 'a\u0489', '\u0489'],
  ['is heaped up', `a${'\u0316'.repeat(6)}`, '\u0316'.repeat(6)],
]
for (const [what, text, found] of HIDDEN) {
  test(`what ${what} is shown as what it is`, () => {
    assert.equal(marked(text, 'hidden'), found)
    assert.equal(spelledOut(text).includes(found), false)
  })
}

const IMITATES: [what: string, text: string, found: string][] = [
  ['a Cyrillic letter in a Latin word', 'pаypal', 'а'],
  ['a Greek letter in a Latin word', 'gοogle', 'ο'],
  ['a word of Cyrillic letters that have Latin twins', 'рау', 'рау'],
  ['full width', 'ａｄｍｉｎ １', 'ａｄｍｉｎ１'],
  ['mathematical letters', '𝐩𝐚𝐲', '𝐩𝐚𝐲'],
  ['circled digits', '①', '①'],
  ['another slash', 'https://bank.example∕.evil.test', '∕'],
  ['another dot', 'bank․example', '․'],
  ['another hyphen', 'co‐op', '‐'],
  ['a dotless i', 'admın', 'ı'],
]
for (const [what, text, found] of IMITATES) {
  test(`${what} is marked`, () => assert.equal(marked(text, 'lookalike'), found))
}

const PLAIN = [
  'payment.transfer',
  'Grüße, señor Ångström',
  'e\u0301te\u0301',
  'Платёж поставщику',
  'Πληρωμή λογαριασμού',
  'सत्यमेव जयते',
  'تحويل',
  '送金する',
  '“quoted”… 5 €',
]
for (const text of PLAIN) {
  test(`ordinary text is as it is: ${text}`, () => assert.deepEqual(visibleParts(text), [{ kind: 'plain', text }]))
}

test('line breaks of a text with several lines are marked, and are hidden characters elsewhere', () => {
  assert.deepEqual(
    visibleParts('a\nb\u00e9', true).map(({ kind }) => kind),
    ['plain', 'break', 'plain'],
  )
  assert.equal(marked('a\nb\u00e9', 'hidden'), '\n')
})

test('digits among letters from right to left may be reordered', () => {
  assert.equal(isReordered('ש 5 / 1000 ת'), true)
  assert.equal(isReordered('שלום'), false)
  assert.equal(isReordered('5 / 1000'), false)
})
