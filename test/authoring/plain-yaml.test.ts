import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { createReport } from '../../src/authoring/diagnostics/report.ts'
import { sourceOf } from '../../src/authoring/yaml/node.ts'
import { plainYaml } from '../../src/authoring/yaml/plain-yaml.ts'
import { readYaml } from '../../src/authoring/yaml/read-yaml.ts'
import { processorMs } from '../processor.ts'
import { runs } from '../tier.ts'
import { randomYaml } from './random-yaml.ts'

const FOLDERS = ['policies', 'test/testdata/policies', 'test/testdata/fmt', 'bench/policies']

/** Texts in the forms that are read directly, which files have seldom. */
const FORMS = [
  'a:\n- b: 1\n  c: [x, y]\n- d\ne:\n  f: {g: 1, h: [2, "3"]}\n\n  # c\n  i: \'j\'\n# end\nk: l m # n\no: 1.5\n',
  'a: [b,\n  c, # x\n  {d: e}\n  ]\nf:\n  - g: h\n    i:\n    - j\n    - k\n  - l\n',
  '# head\n\n"a b": {}\nc: [ ]   # d\n\'e\': "f: # g"\nh:\n    i: -1\n    j: true\nk: null\n',
  'rules:\n  - {id: a, when: {all: [{fact: context.x, operator: in, value: [DE, FR]}]}}\n  - id: b\n    reason: It is so, (or not)\n',
]

const texts = [
  ...FORMS,
  ...FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => readFileSync(join(folder, name), 'utf8')),
  ),
]

/** True for a text that is read directly, which must come out as the library reads it, with nothing to report. */
function isReadAlike(text: string): boolean {
  const source = sourceOf('p.yaml', text)
  const plain = plainYaml(source)
  if (plain === undefined) return false
  const report = createReport()
  assert.deepEqual(plain, readYaml(source, report), JSON.stringify(text))
  assert.deepEqual(report.diagnostics(), [], JSON.stringify(text))
  return true
}

test('plain YAML of policies is read as the library reads it, to the offset', () => {
  const read = texts.map(isReadAlike)
  assert.deepEqual(read.slice(0, FORMS.length), [true, true, true, true])
  assert.ok(read.filter((is) => is).length > texts.length / 2, 'most files are read directly')
})

for (const [what, text] of [
  ['a comment that ends a block', 'a:\n  b: 1\n  # c\nd: 2\n'],
  ['a comment deeper than a block that ends', 'a: 1\n  # c\n'],
  ['a text of two lines', 'a: b\n  c\n'],
  ['a bracket of another kind', 'a: [b}\n'],
  ['a comment up to the end', 'a: {b: c #}'],
  ['a comment at the edge, in braces', 'a: {b: c\n#\n }\n'],
  ['a missing value', 'a:\nb: 1\n'],
  ['a repeated key', 'a: 1\na: 2\n'],
  ['a key of more than 1,024 characters', `a: 1\n${'b'.repeat(1100)}: 2\n`],
  ['a number with a comma', 'risk: [{weight: 1,5}]\n'],
  ['a key that is no text', 'true: 1\n'],
  ['a number of too many digits', 'a: 9007199254740993\n'],
  ['a tab', 'a:\t1\n'],
  ['lines that end with CR', 'a: 1\r\n'],
] as const) {
  test(`left to the library: ${what}`, () => {
    assert.equal(isReadAlike(text), false)
  })
}

test('nesting is read as the library reads it, up to its limit', () => {
  const nested: ((depth: number) => string)[] = [
    (depth) => `a: ${'['.repeat(depth)}b${']'.repeat(depth)}\n`,
    (depth) => `${Array.from({ length: depth }, (_, i) => `${' '.repeat(i)}a:\n`).join('')}${' '.repeat(depth)}b: c\n`,
    (depth) =>
      `a:\n${Array.from({ length: depth }, (_, i) => `${' '.repeat(2 * i)}- b:\n`).join('')}${' '.repeat(2 * depth)}- c\n`,
  ]
  for (const text of nested) {
    const read = Array.from({ length: 40 }, (_, depth) => isReadAlike(text(depth + 1)))
    assert.deepEqual([read[2], read.at(-1)], [true, false])
  }
})

test('a long run of one character is read in time of its length', () => {
  const sinceMs = processorMs()
  for (const one of [' ', '#', ' #', '-', '- ', 'a', ':', ': ', '[', '{', ',', '"', "'", '\n', '\n ', '0', '.'])
    for (const start of ['a: b', 'a: [b', '- ', ''])
      for (const end of ['c', '']) plainYaml(sourceOf('p.yaml', start + one.repeat(250_000) + end))
  // Of the square of its length, one takes minutes.
  assert.ok(processorMs() - sinceMs < 5000)
})

const PIECES = [
  ' ', '  ', '\n', '\n  ', ':', ': ', ',', ', ', '#', ' #', '# c\n', '-', '- ', '"', "'", '[', ']', '{', '}', '[]', '{}', 'a', '1', '0',
  '.', '.5', '1e3', '0x1', '012', 'null', '~', '*', '&a ', '!', '|', '>', '%', '@', '`', '?', '? ', '\\', '\t', '\r', 'é', '👍', '\u00a0',
  '\ufeff', '\u0085', '\ud800', '---\n', '...\n', '<<: ', '\n\n', '\n#\n', '\n#\n ', '\n  # c\n   ', 'True', 'é: 1\n', '$', '/', '(', '+1', '-1', '=', '^', '1,5',
  '9007199254740993', '  # deep\n', '      # deeper\n', '__proto__: 1\n', 'a: 1\n', '{{', 'yes',
] // biome-ignore format: a table

/** A change somewhere in a text: a piece put in, characters or indentation taken out, a line repeated. */
const edit = fc.record({
  kind: fc.constantFrom('piece', 'piece', 'cut', 'indent', 'line'),
  at: fc.nat(1_000_000),
  piece: fc.constantFrom(...PIECES),
  size: fc.integer({ min: 1, max: 3 }),
})

function edited(
  text: string,
  { kind, at, piece, size }: typeof edit extends fc.Arbitrary<infer T> ? T : never,
): string {
  const here = at % (text.length + 1)
  if (kind === 'piece') return text.slice(0, here) + piece + text.slice(here)
  if (kind === 'cut') return text.slice(0, here) + text.slice(here + size)
  const lines = text.split('\n')
  const i = at % lines.length
  const line = lines[i] ?? ''
  if (kind === 'line') lines.splice(at % 7, 0, line)
  else lines[i] = size === 3 ? line.replace(/^ {1,2}/, '') : ' '.repeat(size) + line
  return lines.join('\n')
}

test('what is nearly plain YAML is read as the library reads it, or left to it', () => {
  const short = texts.filter((text) => text.length < 3000)
  const nearly = fc
    .tuple(fc.constantFrom(...short), fc.array(edit, { minLength: 1, maxLength: 3 }))
    .map(([text, edits]) => edits.reduce(edited, text))
  let read = 0
  fc.assert(
    fc.property(nearly, (text) => {
      if (isReadAlike(text)) read += 1
    }),
    { numRuns: runs(100_000) },
  )
  assert.ok(read > runs(100_000) / 10, `${read} were read directly`)
})

test('random YAML is read as the library reads it, or left to it', () => {
  fc.assert(
    fc.property(randomYaml, ({ text }) => void isReadAlike(text)),
    { numRuns: runs(10_000) },
  )
})
