import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import { compareDiagnostics } from '../../src/authoring/diagnostics/diagnostics.ts'
import { createReport } from '../../src/authoring/diagnostics/report.ts'
import { LIMITS } from '../../src/authoring/load/limits.ts'
import { RESERVED_KEYS } from '../../src/authoring/yaml/node.ts'
import { readDocument } from '../../src/authoring/yaml/read-document.ts'
import { type Json, parseJson } from '../../src/base/json.ts'
import { processorMs } from '../processor.ts'
import { fullTest, runs } from '../tier.ts'
import { brokenCases, casesOf } from './broken.ts'
import { damaged } from './damage.ts'
import { changed, placesOf } from './places.ts'
import { HEADER, load, testdata, testdataNames } from './sources.ts'

const texts = [
  ...testdataNames('valid').map((name) => testdata(`valid/${name}`).toString()),
  ...testdataNames('invalid')
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => testdata(`invalid/${name}`).toString())
    .filter((text) => text.length < 5000),
]

/** Asserts that loading ends with a set or with errors, and that each diagnostic points into the text. */
function assertSound(name: string, text: string): void {
  const { set, diagnostics } = load({ [name]: text })
  assert.equal(
    set === undefined,
    diagnostics.some(({ severity }) => severity === 'error'),
  )
  assert.deepEqual([...diagnostics].sort(compareDiagnostics), diagnostics)
  const lines = Buffer.from(text)
    .toString()
    .replace(/^\ufeff/, '')
    .replace(/\r(?!\n)/g, '\n')
    .split('\n')
  for (const { line, column, endColumn, code, message, suggestion } of diagnostics) {
    const last = (lines[line - 1]?.length ?? 0) + 1
    assert.ok(line >= 1 && column >= 1, code)
    assert.ok(line <= lines.length && column <= last, `${code} at ${line}:${column}`)
    assert.ok(endColumn === undefined || (endColumn > column && endColumn <= last), `${code} to ${line}:${endColumn}`)
    assert.match(message, /^\S.*[.!]$/s, code)
    // A suggestion is one line that can be written in place of what is marked.
    if (suggestion === null) continue
    assert.ok(endColumn !== undefined && suggestion.length <= 300, code)
    assert.doesNotMatch(suggestion, /[\n\r]/, code)
  }
}

test('property: a damaged policy is refused or loaded, and every fault lies inside it', () => {
  fc.assert(
    fc.property(damaged(texts), (text) => {
      assertSound('main.yaml', text)
    }),
    { numRuns: runs(600) },
  )
})

/** Object that cannot be converted to a string, unlike others. */
const NO_TEXT = { toString: 1, valueOf: [{ toString: 1 }] }

test('a value that has no text is a fault like any other, wherever it stands', () => {
  for (const name of testdataNames('valid')) {
    const document: Json = parse(testdata(`valid/${name}`).toString())
    for (const at of placesOf(document).slice(1)) {
      const after = changed(document, at, (holder, last) => Object.assign(holder, { [last]: NO_TEXT }))
      assert.doesNotThrow(() => load({ 'main.json': JSON.stringify(after) }), at.join('.'))
    }
  }
})

const sets = [...casesOf('valid.txt'), ...brokenCases()].map(({ files }) =>
  [...files].map(([name, bytes]): [string, string] => [name, Buffer.from(bytes).toString()]),
)
const INSERTED = [
  '',
  ' ',
  '\t',
  '\n',
  '\u00a0',
  '“',
  "'",
  '"',
  '{',
  ']',
  ',',
  ':',
  '- ',
  '*',
  '&a',
  '!',
  '@',
  '//',
  '\0',
  '\r',
  '\ufeff',
]

test('property: valid and broken sets with a character more or less, or two, are refused or loaded', () => {
  const change = fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom(...INSERTED))
  fc.assert(
    fc.property(fc.constantFrom(...sets), fc.array(change, { minLength: 1, maxLength: 2 }), (files, changes) => {
      for (const [name, text] of files) {
        let changed = text
        for (const [at, cut, inserted] of changes) {
          const start = at % (changed.length + 1)
          changed = changed.slice(0, start) + inserted + changed.slice(start + cut)
        }
        // Files in other encodings have other places than their bytes read as UTF-8.
        if (!name.includes('.test.') && !changed.includes('\0')) assertSound(name, changed)
      }
    }),
    { numRuns: runs(1000) },
  )
})

test('property: a JSON policy has no fault of syntax exactly when the strict parser takes it', () => {
  const json = [
    ...sets
      .flat()
      .filter(([name]) => name.endsWith('.json'))
      .map(([, text]) => text),
    '[1e3, -0.5, "\\u00e4", null]',
  ]
  const change = fc.tuple(
    fc.nat(),
    fc.nat(2),
    fc.constantFrom(...INSERTED, '1', '0', 'e', '\\', '\\u12', 'true', '"a":1,', '9007199254740993'),
  )
  fc.assert(
    fc.property(fc.constantFrom(...json), fc.array(change, { maxLength: 2 }), (text, changes) => {
      let changed = text.replace(/^\ufeff/, '')
      for (const [at, cut, inserted] of changes) {
        const start = at % (changed.length + 1)
        changed = changed.slice(0, start) + inserted + changed.slice(start + cut)
      }
      const source = Buffer.from(changed)
      const report = createReport()
      const document = readDocument('a.json', source, report)
      const strict = accepted(source.toString().replace(/^\ufeff/, ''))
      assert.equal(report.failed(), strict === undefined, JSON.stringify([changed, report.diagnostics()]))
      if (strict !== undefined) assert.deepEqual(document?.value, strict)
    }),
    { numRuns: runs(1200) },
  )
})

/** Returns the strict parser's value of a text; undefined when the text, or a reserved key, is refused. */
function accepted(text: string): unknown {
  try {
    const value = parseJson(text, { maxDepth: LIMITS.depth })
    return [...RESERVED_KEYS].some((key) => JSON.stringify(value).includes(`"${key}":`)) ? undefined : value
  } catch {
    return undefined
  }
}

const MANY = 40
/** Faults of syntax in a rule, the line of it that is told, from 0, and what it is. */
const IN_EACH_RULE: [what: string, rule: string, line: number][] = [
  ['a quote that is not closed', 'effect: deny, actions: [a.b], reason: "R.', 4],
  ['an apostrophe in a text in quotes', "effect: deny, actions: [a.b], reason: 'Don't pay'", 4],
  ['a key that stands too deep', 'effect: deny, actions: [a.b],   reason: R.', 4],
]

for (const [what, keys, line] of IN_EACH_RULE) {
  test(`faults of syntax in each of ${MANY} rules are told in one run, and what follows them: ${what}`, () => {
    const lines = keys.split(', ').map((key) => `    ${key}\n`)
    // Long enough that the whole cannot be read again for each of them.
    const description = `    description: "${'x'.repeat(600)}"\n`
    const rules = Array.from({ length: MANY }, (_, i) => `  - id: r${i}\n${description}${lines.join('')}`)
    const { diagnostics } = load({ 'main.yaml': `${HEADER}rules:\n${rules.join('')}riks: []\n` })
    const told = diagnostics.filter(({ severity }) => severity === 'error').map((one) => one.line)
    const height = lines.length + 2
    const first = HEADER.split('\n').length + 1
    const wanted = Array.from({ length: MANY }, (_, i) => first + i * height + line)
    assert.deepEqual([...new Set(told)], [...wanted, first + MANY * height])
  })
}

fullTest('robustness: large texts of one mistake repeated are refused in good time', () => {
  const repeated = [
    '\t- a: b\n',
    'effect:allow\n',
    'a: b: c\n',
    '<<<<<<< a\n=======\n>>>>>>> b\n',
    '\u00a0a: 1\n',
    '"',
    '["x',
    '*a ',
    '`',
    '```\n',
    '{{ a }} b\n',
  ]
  for (const one of repeated) {
    for (const name of ['a.yaml', 'a.json']) {
      const start = processorMs()
      const size = name.endsWith('yaml') ? 100_000 : 500_000
      assertSound(name, HEADER + one.repeat(size / one.length))
      const took = processorMs() - start
      assert.ok(took < 8000, `${JSON.stringify(one)} took ${took} ms as ${name}`)
    }
  }
})

const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, 0, -1, 1.5, 101, '', 'a', 'a.b', 'context.a', 'deny', 'allow', 'equal', 'c'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        'fact',
        'operator',
        'value',
        'all',
        'any',
        'not',
        'condition',
        'id',
        'actions',
        'effect',
        'reason',
        'when',
        'name',
        'weight',
        'scale',
        'from',
        'to',
        'file',
        'values',
        'type',
        'default',
        'context',
        'plan',
        'properties',
        '$ref',
        '$defs',
        'quorum',
        'decision',
        'a.b',
        'c',
      ),
      tie('value'),
      { maxKeys: 5 },
    ),
  ),
})).value

const SECTIONS = [
  'defaults',
  'thresholds',
  'timezone',
  'approval',
  'explain',
  'domains',
  'facts',
  'actions',
  'lists',
  'conditions',
  'risk',
  'rules',
]

test('property: any values in the sections of a policy are refused or loaded', () => {
  const sections = fc.dictionary(fc.constantFrom(...SECTIONS), anyJson, { maxKeys: 4 })
  fc.assert(
    fc.property(sections, (document) => {
      const text = JSON.stringify({ apiVersion: 'gate-sidecar/v1', tenant: 'acme', ...document })
      assertSound('main.json', text)
      assertSound('main.yaml', text)
    }),
    { numRuns: runs(600) },
  )
})

test('property: a test file of any shape is refused or accepted', () => {
  const keys = ['apiVersion', 'tenant', 'now', 'contexts', 'plans', 'agents', 'tests']
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...keys), anyJson), (document) => {
      const { diagnostics } = load({ 'main.yaml': HEADER, 'main.test.json': JSON.stringify(document) })
      assert.ok(diagnostics.every(({ line, column }) => line >= 1 && column >= 1))
    }),
    { numRuns: runs(500) },
  )
})
