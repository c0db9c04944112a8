import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseDocument } from 'yaml'
import { formatDocument } from '../../src/authoring/format/format.ts'
import { setDigest } from '../../src/authoring/load/digest.ts'
import type { Json } from '../../src/base/json.ts'
import { processorMs } from '../processor.ts'
import { runs } from '../tier.ts'
import { damaged } from './damage.ts'
import { randomYaml } from './random-yaml.ts'
import { load, testdata, testdataNames } from './sources.ts'

const ROOT = new URL('../../', import.meta.url)
const GOLDEN = new URL('test/testdata/fmt/', ROOT)

function format(file: string, text: string | Uint8Array): string {
  const formatted = formatDocument(file, Buffer.from(text))
  if (!('text' in formatted)) assert.fail(JSON.stringify(formatted))
  return formatted.text
}

/**
 * The document as the YAML library reads it, without our reader. The library counts a byte order mark as a column of the
 * first line, which YAML does not (YAML 1.2, section 5.2).
 */
function parsed(text: string): Json {
  return parseDocument(text.replace(/^\ufeff/, ''), {
    version: '1.2',
    schema: 'core',
    uniqueKeys: false,
    logLevel: 'silent',
  }).toJS()
}

for (const name of readdirSync(GOLDEN).filter((name) => !name.includes('.out.'))) {
  test(`format: ${name} comes out in the style that is kept beside it`, () => {
    const wanted = readFileSync(new URL(name.replace('.', '.out.'), GOLDEN), 'utf8')
    assert.equal(format(name, readFileSync(new URL(name, GOLDEN))), wanted)
    assert.equal(format(name, wanted), wanted)
  })
}

const SHIPPED = ['acme', 'demo'].flatMap((tenant) =>
  readdirSync(new URL(`policies/${tenant}/`, ROOT))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => `policies/${tenant}/${name}`),
)
for (const path of SHIPPED) {
  test(`format: ${path} is in the style`, () => {
    const text = readFileSync(new URL(path, ROOT), 'utf8')
    assert.equal(format(path, text), text)
  })
}

for (const name of testdataNames('valid')) {
  test(`format: ${name} has the same digest afterwards`, () => {
    const file = `main.${name.endsWith('.json') ? 'json' : 'yaml'}`
    const digest = (text: string | Uint8Array) => load({ [file]: text }).set?.digest
    const wanted = digest(testdata(`valid/${name}`))
    assert.ok(wanted !== undefined)
    assert.equal(digest(format(file, testdata(`valid/${name}`))), wanted)
  })
}

for (const name of testdataNames('invalid').filter(
  (name) => /\.(?:yaml|json)$/.test(name) && name !== 'expected.json',
)) {
  test(`format: ${name} is the same document afterwards, or refused with its faults`, () => {
    const bytes = testdata(`invalid/${name}`)
    const formatted = formatDocument(name, bytes)
    if ('diagnostics' in formatted) {
      assert.ok(formatted.diagnostics.length > 0)
      assert.ok(formatted.diagnostics.every(({ code }) => code.startsWith('GATE10')))
    } else assert.deepEqual(parsed(format(name, bytes)), parsed(bytes.toString()))
  })
}

/** Scalars in a source, and as the formatter writes them. */
const SCALARS: [source: string, written: string][] = [
  ['yes', 'yes'],
  ['"yes"', '"yes"'],
  ["'No'", '"No"'],
  ['on', 'on'],
  ['012', '012'],
  ['"012"', '"012"'],
  ['0o14', '0o14'],
  ['1.0', '1.0'],
  ['1e3', '1e3'],
  ['~', '~'],
  ["'~'", '"~"'],
  ['2026-01-31', '2026-01-31'],
  ["'2026-01-31'", '"2026-01-31"'],
  ['"plain words"', 'plain words'],
  ["'DE'", 'DE'],
  ['"a, b"', '"a, b"'],
  ['"payment.*"', '"payment.*"'],
  ['payment.*', 'payment.*'],
  ["'^a\\.b$'", "'^a\\.b$'"],
  ['\'say "no"\'', '\'say "no"\''],
  ["'it''s'", "it's"],
  ['"\\u00e9"', 'é'],
  ['"é*\\u00e9"', '"é*\\u00e9"'],
  ['" a"', '" a"'],
  ['"a "', '"a "'],
  ['""', '""'],
  ["''", '""'],
]
for (const [source, written] of SCALARS) {
  test(`format: ${source} is written ${written}, in a block and in brackets`, () => {
    assert.equal(format('a.yaml', `a:   ${source}`), `a: ${written}\n`)
    assert.equal(format('a.yaml', `a: [${source},${source}]\n`), `a: [${written}, ${written}]\n`)
  })
}

/** Texts on lines of their own, whose empty lines at the end may or may not count. */
const BLOCKS = ['|+\n\n', '|+\n', '|-\n', '|\n', '>+\n', '|\n  a\n', '|+\n  a\n\n\n', '|-\n  a\n\n', '|2\n    a\n  b\n']
for (const block of BLOCKS) {
  test(`format: ${JSON.stringify(block)} is the same text afterwards, at the end of a file and before more`, () => {
    for (const text of [
      `a: ${block}`,
      `a: ${block}b: 1\n`,
      `a:\n- ${block}- 1\n`,
      `- - ${block}  - x\n`,
      `a: ${block}# end\n`,
      `--- ${block}...\n# end\n`,
    ]) {
      if ('diagnostics' in formatDocument('a.yaml', Buffer.from(text))) continue
      assert.deepEqual(parsed(format('a.yaml', text)), parsed(text), text)
    }
  })
}

test('format: a byte order mark is no column of the first line', () => {
  assert.equal(format('a.yaml', '\ufeff a:\n b: 1\n'), 'a:\nb: 1\n')
})

for (const text of ['a: { b:: }', 'a: { b::, c: 1 }', 'a: [b:: ]', '{ "b:": }', 'b::']) {
  test(`format: in ${text}, the key ends with a colon afterwards too`, () => {
    assert.deepEqual(parsed(format('a.yaml', text)), parsed(text))
  })
}

test('property: the same document, the same digest, each comment once and in its order, and the same text again', () => {
  fc.assert(
    fc.property(randomYaml, ({ text, comments }) => {
      const once = format('a.yaml', text)
      const document = parsed(text)
      assert.equal(JSON.stringify(parsed(once)), JSON.stringify(document))
      assert.equal(setDigest([parsed(once)], new Map()), setDigest([document], new Map()))
      assert.deepEqual(
        [...once.matchAll(/#c(\d+)/g)].map((match) => Number(match[1])),
        comments,
      )
      assert.equal(format('a.yaml', once), once)
      assert.ok(once.endsWith('\n') && !/\r|\ufeff|^\s*\n/.test(once))
    }),
    { numRuns: runs(150) },
  )
})

const texts = [
  ...SHIPPED.map((path) => readFileSync(new URL(path, ROOT), 'utf8')),
  readFileSync(new URL('everything.yaml', GOLDEN), 'utf8'),
]
test('property: a damaged file is refused with its faults, or is the same document afterwards; there is no third', () => {
  fc.assert(
    fc.property(damaged(texts), (text) => {
      const bytes = Buffer.from(text)
      const formatted = formatDocument('a.yaml', bytes)
      if ('diagnostics' in formatted) return
      assert.ok('text' in formatted, `${JSON.stringify(formatted)} ${JSON.stringify(text)}`)
      assert.equal(JSON.stringify(parsed(formatted.text)), JSON.stringify(parsed(bytes.toString())))
    }),
    { numRuns: runs(250) },
  )
})

test('format: a long line of many items, and deep nesting, take no long time', () => {
  const start = processorMs()
  const long = format('a.yaml', `a: [${'{b: c}, '.repeat(5000)}]`)
  assert.equal(long.split('\n').length, 5002)
  const tooLong = formatDocument('a.yaml', Buffer.from(`a: |\n${' x\n'.repeat(300_000)}`))
  assert.deepEqual(tooLong, { fault: 'would have more than 1048576 bytes after it was formatted' })
  const deep = `a: ${'['.repeat(30)}x # c\n ${']'.repeat(30)}`
  assert.match(format('a.yaml', deep), /x # c\n$/)
  assert.ok(processorMs() - start < 15_000)
})
