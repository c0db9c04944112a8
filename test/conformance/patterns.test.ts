import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { laterPattern, literalPattern, toRe2 } from '../../conformance/re2-pattern.ts'
import { LIMITS } from '../../src/authoring/load/limits.ts'
import { compilePattern } from '../../src/base/pattern.ts'
import { UNLIMITED } from '../../src/base/work.ts'

/** Patterns with the texts in which CPython 3.11 found them, and did not: some by hand, most at random. */
interface Recorded {
  pattern: string
  error?: true
  found?: string[]
  notFound?: string[]
}

const FILE = new URL('../testdata/conformance/python-patterns.json', import.meta.url)
const recorded: Recorded[] = JSON.parse(readFileSync(FILE, 'utf8'))

function finds(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => {
    const compiled = compilePattern(pattern)
    assert.ok('find' in compiled, pattern)
    return compiled.find(text, UNLIMITED)
  })
}

test('a pattern finds what Python finds, is an error where it is one there, or is refused', () => {
  const counts = { error: 0, refused: 0, patterns: 0, doubted: 0 }
  for (const { pattern, error, found = [], notFound = [] } of recorded) {
    const translated = toRe2(pattern)
    counts[translated.kind]++
    if (error === true) assert.notEqual(translated.kind, 'patterns', pattern)
    else assert.notEqual(translated.kind, 'error', pattern)
    if (translated.kind !== 'patterns') continue
    for (const [texts, expected] of [
      [found, true],
      [notFound, false],
    ] as const) {
      for (const text of texts) {
        const answer = finds(translated.patterns, text)
        if (answer !== expected && translated.differs?.test(text)) counts.doubted++
        else
          assert.equal(
            answer,
            expected,
            `${pattern} in ${JSON.stringify(text)}, as ${translated.patterns.join(' or ')}`,
          )
      }
    }
  }
  assert.ok(counts.patterns > 200 && counts.refused < 50 && counts.doubted < 10, JSON.stringify(counts))
})

const NOT_PYTHON = [
  'a**',
  '*a',
  '^*',
  '(a',
  'a)',
  '[a',
  '[z-a]',
  '[\\w-x]',
  'a{2,1}',
  '\\',
  '\\p{L}',
  '\\Qa\\E',
  '\\z',
  '\\x4',
]
const NOT_PYTHON_EITHER = [
  'a(?i)b',
  '(?L)a',
  '(?au)a',
  '\\2(a)',
  '(?P<x>a)(?P<x>b)',
  '(?P<1>a)',
  '(?<x>a)',
  '(?~a)',
  '\\400',
]
for (const pattern of [...NOT_PYTHON, ...NOT_PYTHON_EITHER]) {
  test(`the pattern ${pattern}, which Python does not compile, is an error at every use`, () => {
    assert.equal(toRe2(pattern).kind, 'error')
  })
}

test('a pattern that is too long is asked in parts, of which one must be found', () => {
  const words = Array.from({ length: 150 }, (_, i) => `word${i}x`)
  const translated = toRe2(`(?i)^(${words.join('|')})\\s+end$`)
  assert.equal(translated.kind, 'patterns')
  if (translated.kind !== 'patterns') return
  assert.ok(translated.patterns.length > 1 && translated.patterns.every(({ length }) => length <= LIMITS.pattern))
  for (const word of words) assert.ok(finds(translated.patterns, `${word.toUpperCase()}\u00a0end\n`), word)
  assert.equal(finds(translated.patterns, 'word150x end'), false)
})

test('a word boundary at an end of the pattern knows all letters and digits, and one within says what it does not know', () => {
  const edges = toRe2('\\b\\d{3}-\\d{2}\\b')
  assert.ok(edges.kind === 'patterns' && edges.differs === undefined)
  const within = toRe2('a.\\bb')
  assert.ok(within.kind === 'patterns' && within.differs?.test('aéb') && !within.differs.test('a-b'))
})

test('any text is found as it is written', () => {
  for (const text of ['a.b', '(x)[y]{2}', '\\d', '^$', '|', '😀\n\t\u0000'])
    assert.ok(finds([literalPattern(text)], `-${text}-`), text)
})

test('texts are ordered by their code points', () => {
  const texts = ['', 'a', 'aa', 'ab', 'b', 'B', '\n', 'a\n', '😀', 'ｚ', '\u{10ffff}', '\u{10ffff}a', 'é']
  // UTF-8 keeps the order of code points.
  const order = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
  for (const one of texts) {
    for (const other of texts) {
      assert.equal(finds([laterPattern(one, false)], other), order(other, one) > 0, JSON.stringify([one, other]))
      assert.equal(finds([laterPattern(one, true)], other), order(other, one) >= 0, JSON.stringify([one, other]))
    }
  }
})
