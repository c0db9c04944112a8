import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slipsInSource } from '../../docs/style.ts'

/* The English of sources: `npm run check` reads comments, literals and JSX text, and leaves code alone. */

const NOUN = /open with the noun/
const NOT_A = /is not a/

const FOUND: readonly [what: string, source: string, line: number, advice: RegExp][] = [
  ['a doc comment', 'const a = 1\n/** What a line is. */', 2, NOUN],
  ['a later sentence over lines', '/**\n * It is one. That\n * one is it.\n */', 1, NOUN],
  ['a comment after code', "const a = 'b' // A text is no number.", 1, NOT_A],
  ['lines of comments', '// A text that\n// is\n// no number.', 1, NOT_A],
  ['a text', "throw new Error('It is no number.')", 1, NOT_A],
  ['a text with a quote', "const a = 'It\\'s that, which is no number.'", 1, NOT_A],
  ['a text with values', 'const a = `$' + '{b.c()} is no number.`', 1, NOT_A],
  ['a text behind a pattern with a quote', `const a = b.replace(/'/g, c) + 'It is no number.'`, 1, NOT_A],
  ['JSX text', '<p>\n  {a} <b>text</b> is no number.\n</p>', 2, NOT_A],
  ['an initialism', '// The text is no JSON.', 1, NOT_A],
]
for (const [what, source, line, advice] of FOUND) {
  test(`a slip is found in ${what}`, () => {
    const slips = slipsInSource(source)
    assert.deepEqual(
      slips.map((slip) => slip.line),
      [line],
    )
    assert.match(slips[0]?.advice ?? '', advice)
  })
}

const SOUND: readonly [what: string, source: string][] = [
  ['a name', "import { mend } from './mend.ts'\nmend(whoever)"],
  ['a pattern', 'const a = b.test(/ is no number/)'],
  ['a comparison', 'const a = <T>(b: T) => mend(b) < mend(c)'],
  ['a name in a comment', '/** Reports `a is no b` as it is. */'],
  ['a question', '// What is it?'],
  ['an address in a text', "const a = 'https://example.org' // It is not a number."],
]
for (const [what, source] of SOUND) {
  test(`no slip is found in ${what}`, () => assert.deepEqual(slipsInSource(source), []))
}
