import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { HEADER, load, testdata, testdataNames } from './sources.ts'

const texts = [
  ...testdataNames('valid').map((name) => testdata(`valid/${name}`).toString()),
  ...testdataNames('invalid')
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => testdata(`invalid/${name}`).toString())
    .filter((text) => text.length < 5000),
]

/** Whatever the text, loading ends with a set or with errors, each of which points into the text. */
function assertSound(name: string, text: string): void {
  const { set, diagnostics } = load({ [name]: text })
  assert.equal(
    set === undefined,
    diagnostics.some(({ severity }) => severity === 'error'),
  )
  const lines = Buffer.from(text)
    .toString()
    .replace(/^\ufeff/, '')
    .split('\n')
  for (const { line, column, code } of diagnostics) {
    assert.ok(line >= 1 && column >= 1, code)
    assert.ok(line <= lines.length && column <= (lines[line - 1]?.length ?? 0) + 1, `${code} at ${line}:${column}`)
  }
}

const edit = fc.tuple(
  fc.nat(),
  fc.nat(6),
  fc.constantFrom(
    '',
    ':',
    '- ',
    '{',
    '}',
    '[',
    ']',
    '"',
    '\n',
    ' ',
    '\t',
    '&a ',
    '*a',
    '!!x ',
    'null',
    '1e999',
    '~',
    '#',
    '? ',
    '|',
    '>',
    '%',
    '\ud83d',
  ),
)

test('property: a damaged policy is refused or loaded, and every fault lies inside it', () => {
  fc.assert(
    fc.property(fc.constantFrom(...texts), fc.array(edit, { minLength: 1, maxLength: 4 }), (text, edits) => {
      let damaged = text
      for (const [at, cut, insert] of edits) {
        const start = at % (damaged.length + 1)
        damaged = damaged.slice(0, start) + insert + damaged.slice(start + cut)
      }
      assertSound('main.yaml', damaged)
    }),
    { numRuns: 1500 },
  )
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
    { numRuns: 1500 },
  )
})

test('property: a test file of any shape is refused or accepted', () => {
  const keys = ['apiVersion', 'tenant', 'now', 'contexts', 'plans', 'agents', 'tests']
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...keys), anyJson), (document) => {
      const { diagnostics } = load({ 'main.yaml': HEADER, 'main.test.json': JSON.stringify(document) })
      assert.ok(diagnostics.every(({ line, column }) => line >= 1 && column >= 1))
    }),
    { numRuns: 500 },
  )
})
