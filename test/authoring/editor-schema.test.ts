import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import { DIAGNOSTICS, type DiagnosticCode } from '../../src/authoring/diagnostics/diagnostics.ts'
import {
  editorSchema,
  REFINEMENTS,
  TEST_REFINEMENTS,
  testFileSchema,
} from '../../src/authoring/editor/editor-schema.ts'
import type { Json, JsonObject } from '../../src/base/json.ts'
import { schemaCompiler } from '../../src/base/schema.ts'
import { OPERATORS } from '../../src/policies/operators.ts'
import { configSchema } from '../../src/service/config-schema.ts'
import { runs } from '../tier.ts'
import { casesOf, loadCase } from './broken.ts'
import { changed, placesOf } from './places.ts'
import { HEADER, load, testdata, testdataNames } from './sources.ts'

const validate = schemaCompiler({ allErrors: true }).compile(editorSchema())

/** Faults that are of the text and not of the document that it says. */
const OF_TEXT = /^GATE10/

/** Faults that no schema of one document can find, or not all of them. */
const BEYOND: Partial<Record<DiagnosticCode, string>> = {
  GATE1110: 'a schema does not know the name of the folder',
  GATE1117: 'the zones that there are differ from machine to machine',
  GATE1201: 'a schema compares no items of a list with each other',
  GATE1202: 'two spellings of a path are two keys to a schema; names of a list are not compared',
  GATE1203: 'what is declared stands elsewhere in the set',
  GATE1207: 'what is declared stands elsewhere in the set',
  GATE1208: 'what is declared stands elsewhere in the set',
  GATE1209: 'what is declared stands elsewhere in the set',
  GATE1210: 'a schema does not follow references',
  GATE1211: 'a schema sees one file',
  GATE1212: 'a schema does not compare patterns with each other',
  GATE1213: 'a schema opens no file',
  GATE1215: 'a schema does not follow references',
  GATE1216: 'a schema does not compare two members',
  GATE1302: 'the type of the fact is declared elsewhere in the set',
  GATE1304: 'whether a pattern compiles is no question of form',
  GATE1309: 'the schema of the action stands elsewhere in the set',
  GATE1310: 'a schema does not compare two members',
  GATE1311: 'a schema does not compare two members',
  GATE1312: 'the type of the fact is declared elsewhere in the set',
  GATE1313: 'a schema opens no file',
  GATE1315: 'the type of the fact is declared elsewhere in the set',
  GATE1402: 'what the compiler of schemas makes of keywords that stand together',
  GATE1403: 'a schema does not follow references',
  GATE1404: 'a schema does not follow references',
  GATE1405: 'whether a pattern compiles is no question of form',
  GATE1407: 'a schema does not compare keywords with each other',
}

/** Faults that a schema finds but for some documents, which are these. */
const IN_PART: Partial<Record<DiagnosticCode, { reason: string; files: readonly string[] }>> = {
  GATE1301: {
    reason: 'what a fact can be compared with follows from its declaration, and from the values of a named list',
    files: [
      'boolean-fact-text',
      'integer-fact-fraction',
      'list-of-texts-number-fact',
      'number-fact-text-constant',
      'text-fact-number',
    ],
  },
  GATE1306: { reason: 'of an IPv6 address, a schema sees the characters only', files: [] },
  GATE1307: { reason: '29 February exists in some years', files: [] },
  GATE1308: { reason: '29 February exists in some years', files: [] },
}

function faultsOf(file: string, bytes: string | Uint8Array): DiagnosticCode[] {
  const { diagnostics } = load({ [file]: bytes })
  return diagnostics.flatMap(({ code, severity }) => (severity === 'error' ? [code] : []))
}

for (const name of testdataNames('valid')) {
  test(`editor schema: accepts ${name}`, () => {
    assert.ok(validate(parse(testdata(`valid/${name}`).toString())), JSON.stringify(validate.errors))
  })
}

for (const name of testdataNames('invalid').filter(
  (name) => /\.(?:yaml|json)$/.test(name) && name !== 'expected.json',
)) {
  const bytes = testdata(`invalid/${name}`)
  const codes = faultsOf(`main.${name.endsWith('.json') ? 'json' : 'yaml'}`, bytes)
  if (codes.some((code) => OF_TEXT.test(code))) continue
  const isLeftOver = (code: DiagnosticCode): boolean =>
    BEYOND[code] !== undefined || IN_PART[code]?.files.includes(name.replace(/\.\w+$/, '')) === true
  const wanted = codes.filter((code) => !isLeftOver(code))
  if (wanted.length === 0) continue
  test(`editor schema: refuses ${name} (${wanted.join(', ')})`, () => {
    assert.equal(validate(parse(bytes.toString())), false)
  })
}

test('editor schema: what no schema can find is a fault that there is', () => {
  for (const code of [...Object.keys(BEYOND), ...Object.keys(IN_PART)])
    assert.ok(Object.hasOwn(DIAGNOSTICS, code), code)
})

const valid: JsonObject[] = testdataNames('valid').map((name) => parse(testdata(`valid/${name}`).toString()))
const shipped = ['communication', 'data', 'main', 'payments'].map((name) =>
  parse(testdata(`../../../policies/acme/${name}.yaml`).toString()),
)
const documents: JsonObject[] = [...valid, ...shipped]

const operators = [
  ...OPERATORS.keys(),
  'not:in',
  'someFact:equal',
  'everyFact:not:inCidr',
  'not:exists',
  'equals',
  'some:equal',
  '',
]
const anyValue = fc.oneof(
  fc.constantFrom<Json>(null, true, false, 0, 1, -1, 1.5, 100, 101, '', [], {}, ['a'], [1], [null], [[]]),
  fc.constantFrom<Json>(
    'a',
    'a.b',
    '**',
    'a.**b',
    '.a',
    'a b',
    '30m',
    '90d',
    '91d',
    '2161h',
    '0s',
    '1 h',
    'UTC',
    '+02:00',
    'deny',
    'allow',
  ),
  fc.constantFrom<Json>(
    'context.a',
    'context',
    'context.*',
    'context.*.a',
    'context.*.*',
    'context["a b"]',
    'plan',
    'time.hour',
    'action',
    'amount',
    'context.',
    'environment',
  ),
  fc.constantFrom<Json>(
    '10.0.0.0/8',
    '10.0.0.1',
    '10.0.0.0/33',
    '2001:db8::/32',
    '2026-01-31T09:00:00Z',
    '2026-02-30T09:00:00Z',
    '2026-01-31',
    'lists/a.txt',
    '../a',
    '/a',
    'a//b',
    'constructor',
  ),
  fc.constantFrom<Json>(
    { fact: 'action', operator: 'equal', value: 'a' },
    { all: [] },
    { not: { condition: 'a' } },
    { type: 'object' },
    { type: 'string' },
    { type: 'list' },
    { file: 'a' },
    { values: [1] },
  ),
  fc.constantFrom<Json>(...operators),
)
const anyKey = fc.constantFrom(
  ...[
    'all',
    'any',
    'not',
    'condition',
    'fact',
    'operator',
    'value',
    'when',
    'scale',
    'approval',
    'effect',
    'reason',
    'actions',
    'file',
    'values',
    'type',
    'default',
    'context',
  ],
  ...[
    'plan',
    'quorum',
    'expiresIn',
    'unbound',
    'minimum',
    'uniqueItems',
    'items',
    'then',
    'constructor',
    'a b',
    'a.*',
    'context.x',
    'context.*',
    'weihgt',
    'description',
  ],
)
const mutation = fc.record({
  where: fc.nat(),
  kind: fc.nat(5),
  value: anyValue,
  key: anyKey,
  operator: fc.constantFrom<Json>(...operators),
})

function mutated(
  document: Json,
  { where, kind, value, key, operator }: typeof mutation extends fc.Arbitrary<infer T> ? T : never,
): Json {
  const places = placesOf(document).slice(1)
  const wanted = kind === 5 ? places.filter((at) => at.at(-1) === 'operator') : places
  const at = wanted[where % Math.max(1, wanted.length)] ?? []
  return changed(document, at, (holder, last) => {
    if (Array.isArray(holder)) {
      if (kind === 0) holder.splice(Number(last), 1)
      else holder[Number(last)] = value
      return
    }
    const before = holder[last] ?? null
    if (kind === 0 || kind === 1) delete holder[last]
    if (kind === 1) holder[key] = before
    if (kind === 2 || kind === 3) holder[last] = value
    if (kind === 4) holder[key] = value
    if (kind === 5) holder[last] = operator
  })
}

test('property: the editor schema refuses nothing that the loader takes, and finds what a schema can find', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...documents),
      fc.array(mutation, { minLength: 1, maxLength: 2 }),
      (document, mutations) => {
        const after = mutations.reduce<Json>(mutated, document)
        const faults = faultsOf('main.json', JSON.stringify(after)).filter((code) => code !== 'GATE1110')
        const accepts = validate(after)
        if (!accepts)
          assert.ok(
            faults.length > 0,
            `stricter than the loader: ${JSON.stringify(validate.errors?.[0])} in ${JSON.stringify(after)}`,
          )
        if (!accepts || typeof after !== 'object') return
        const wanted = faults.filter(
          (code) => !OF_TEXT.test(code) && BEYOND[code] === undefined && IN_PART[code] === undefined,
        )
        assert.deepEqual(wanted, [], JSON.stringify(after))
      },
    ),
    { numRuns: runs(500) },
  )
})

const SCHEMAS: Record<string, JsonObject> = JSON.parse(
  JSON.stringify({ policy: editorSchema(), test: testFileSchema(), config: configSchema() }),
)

/** Each property that a schema declares, at every level. */
function propertiesOf(schema: Json, at: string): [path: string, property: JsonObject][] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = Object.entries(schema).flatMap(([key, value]): [string, JsonObject][] => {
    // A condition or a combination says more about a property that is declared beside it.
    if (['if', 'then', 'else', 'allOf', 'dependentSchemas', 'examples', 'default'].includes(key)) return []
    if (key !== 'properties') return propertiesOf(value, `${at}.${key}`)
    return Object.entries(value as JsonObject).flatMap(([name, property]): [string, JsonObject][] => [
      [`${at}.${name}`, property as JsonObject],
      ...propertiesOf(property, `${at}.${name}`),
    ])
  })
  return own
}

for (const [name, schema] of Object.entries(SCHEMAS)) {
  test(`schema ${name}: every key has a description, and examples unless all its values are listed, all of which pass`, () => {
    const properties = propertiesOf(schema, name)
    assert.ok(properties.length > 5)
    const compiler = schemaCompiler({ allErrors: true })
    for (const [path, property] of properties) {
      assert.match(String(property.description), /\w.*\.$/, `${path} needs a description`)
      const { examples, enum: listed, const: only, type } = property
      const needsNone = listed !== undefined || only !== undefined || type === 'boolean'
      assert.ok(needsNone || (Array.isArray(examples) && examples.length > 0), `${path} needs examples`)
      for (const example of Array.isArray(examples) ? examples : []) {
        const check = compiler.compile({ ...property, $defs: schema.$defs ?? {} })
        assert.ok(check(example), `${path}: ${JSON.stringify(example)} is no example: ${JSON.stringify(check.errors)}`)
      }
    }
  })
}

for (const [name, schema, refinements] of [
  ['policy', editorSchema(), REFINEMENTS],
  ['test', testFileSchema(), TEST_REFINEMENTS],
] as const) {
  test(`schema ${name}: each refinement is of a place that the shape has`, () => {
    const text = JSON.stringify(schema)
    for (const [place, refinement] of Object.entries(refinements)) {
      for (const [key, value] of Object.entries(refinement)) {
        assert.ok(text.includes(`${JSON.stringify(key)}:${JSON.stringify(value)}`), place)
      }
    }
  })
}

const NAMES = [
  'a',
  'A',
  'z9',
  'a-b',
  'a_b',
  'a.b',
  'a b',
  '-a',
  '_a',
  '9a',
  'é',
  '',
  'a/b',
  'x'.repeat(63),
  'x'.repeat(64),
]
NAMES.push('x'.repeat(128), 'x'.repeat(129), 'a:b', 'a--b', 'A_-1', 'constructor')
for (const section of ['lists', 'conditions', 'domains']) {
  test(`editor schema: takes as names under ${section} what the loader takes, and nothing else`, () => {
    const values = { lists: '{values: [a]}', conditions: '{fact: action, operator: exists}', domains: '[a]' }
    const taken = NAMES.map((name) => {
      const uses = {
        lists: `{fact: context.a, operator: inList, value: ${JSON.stringify(name)}}`,
        conditions: `{condition: ${JSON.stringify(name)}}`,
        domains: `{fact: domain, operator: equal, value: ${JSON.stringify(name)}}`,
      }
      const key = section as keyof typeof uses
      const text = `${HEADER}${section}: {${JSON.stringify(name)}: ${values[key]}}\nrules:\n  - {id: r, actions: [a], effect: allow, reason: R., when: ${uses[key]}}\n`
      const isSound = faultsOf('main.yaml', text).length === 0
      assert.equal(validate(parse(text)), isSound, `${name}: ${JSON.stringify(validate.errors)}`)
      return isSound
    })
    assert.ok(taken.includes(true) && taken.includes(false))
  })
}

const validateTests = schemaCompiler({ allErrors: true }).compile(testFileSchema())

/** Faults of test files that no schema of one document can find. */
const TESTS_BEYOND: Partial<Record<DiagnosticCode, string>> = {
  GATE1110: 'a schema does not know the name of the folder',
  GATE1504: 'what is declared stands elsewhere in the set',
  GATE1505: 'a schema compares no members of items with each other',
  GATE1507: 'a schema does not compare two members',
  GATE1508: 'a schema compares no items of a list with the members of another',
  GATE1509: 'a schema does not count combinations',
}

const SHIPPED_TESTS = ['../../../policies/acme/acme', '../../../policies/demo/demo', '../cases/policies/shop/shop']
for (const path of SHIPPED_TESTS) {
  test(`schema test: accepts ${path}.test.yaml`, () => {
    assert.ok(validateTests(parse(testdata(`${path}.test.yaml`).toString())), JSON.stringify(validateTests.errors))
  })
}

for (const one of testdataNames('sets').flatMap(casesOf)) {
  for (const [file, bytes] of one.files) {
    if (!/\.test\.(?:yaml|yml|json)$/.test(file)) continue
    test(`schema test: says of ${file} what the loader says, as far as a schema can: ${one.name}`, () => {
      const codes = loadCase(one).flatMap((fault) =>
        fault.file === `acme/${file}` && fault.severity === 'error' ? [fault.code] : [],
      )
      if (codes.some((code) => OF_TEXT.test(code))) return
      const accepts = validateTests(parse(Buffer.from(bytes).toString()))
      const wanted = codes.filter((code) => TESTS_BEYOND[code] === undefined)
      assert.equal(accepts, wanted.length === 0, `${codes.join()}: ${JSON.stringify(validateTests.errors)}`)
    })
  }
}

/** Test files, with the code that the loader gives, or none. */
const TEST_FILES: [text: string, code: DiagnosticCode | undefined][] = [
  ['tests: [{name: n, matrix: {actions: [x]}, expect: {decision: deny}}]', undefined],
  ['now: 2026-01-31T09:00:00Z\ntests: [{name: n, matrix: {actions: [x]}, expect: {decision: deny}}]', undefined],
  ['now: 2026-01-31\ntests: [{name: n, matrix: {actions: [x]}, expect: {decision: deny}}]', 'GATE1503'],
  ['tests: [{name: n, now: noon, matrix: {actions: [x]}, expect: {decision: deny}}]', 'GATE1503'],
  ['tests: [{name: n, matrix: {actions: [x, x]}, expect: {decision: deny}}]', 'GATE1510'],
  [
    'contexts: {a: {}}\ntests: [{name: n, matrix: {actions: [x], contexts: [a, a]}, expect: {decision: deny}}]',
    'GATE1510',
  ],
  ['tests: [{name: n, matrix: {actions: ["x.*"]}, expect: {decision: deny}}]', 'GATE1503'],
  ['tests: [{name: n, matrix: {actions: [x]}, expect: {decision: deny}, because: it is}]', 'GATE1501'],
  ['tests: [{name: n, matrix: {actions: [x]}}]', 'GATE1502'],
  ['tests: []', 'GATE1503'],
]
for (const [text, code] of TEST_FILES) {
  test(`schema test: ${code === undefined ? 'accepts' : 'refuses'} ${text.replace('\n', ', ')}`, () => {
    const { diagnostics } = load({ 'main.yaml': HEADER, 'a.test.yaml': `${HEADER}${text}\n` })
    assert.equal(diagnostics[0]?.code, code, JSON.stringify(diagnostics))
    assert.equal(validateTests(parse(HEADER + text)), code === undefined)
  })
}
