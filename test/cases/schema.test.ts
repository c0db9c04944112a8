import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { schemaCompiler } from '../../src/base/schema.ts'
import { testFileSchema } from '../../src/policy/editor-schema.ts'
import { HEADER, load } from '../policy/sources.ts'

const SCHEMA = testFileSchema()
const accepts = schemaCompiler({ allErrors: true }).compile(SCHEMA)

for (const path of [
  'policies/acme/acme.test.yaml',
  'policies/demo/demo.test.yaml',
  'test/testdata/cases/policies/shop/shop.test.yaml',
]) {
  test(`schema of tests: accepts ${path}`, () => {
    const document: unknown = parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))
    assert.ok(accepts(document), JSON.stringify(accepts.errors))
  })
}

/** Of one test with the context `a`; `true` where schema and loader both take it. */
const EXPECTATIONS: [expect: string, taken: boolean][] = [
  ['{decision: allow}', true],
  ['{decision: allow, rule: null, rules: [], unevaluable: [f], reason: R., retry: never, decidedBy: default}', true],
  ['{decision: allow, risk: {score: 5}}', true],
  ['{decision: allow, risk: {min: 5, max: 6}, factors: {f: 5}}', true],
  ['{decision: allow, factors: {f: {min: 5}}}', true],
  ['{a: {decision: allow}}', true],
  ['[{decision: allow}, {action: "x*", context: a, decision: deny}]', true],
  ['{}', false],
  ['[]', false],
  ['deny', false],
  ['{decision: alow}', false],
  ['{rule: r}', false],
  ['{decision: allow, rul: r}', false],
  ['{decision: allow, decidedBy: approval}', false],
  ['{decision: allow, retry: later}', false],
  ['{decision: allow, risk: {}}', false],
  ['{decision: allow, risk: {min: -1}}', false],
  ['{decision: allow, factors: {f: "5"}}', false],
  ['{decision: allow, factors: {f: {mn: 5}}}', false],
  ['{a: {decision: alow}}', false],
  ['[{decision: allow, actions: [x]}]', false],
  ['[{action: "a b", decision: allow}]', false],
]
for (const [expect, taken] of EXPECTATIONS) {
  test(`schema of tests: ${taken ? 'accepts' : 'refuses'} ${expect}, as the loader does`, () => {
    const text = `${HEADER}contexts: {a: {}}\ntests: [{name: n, matrix: {actions: [x], contexts: [a]}, expect: ${expect}}]\n`
    const policy = `${HEADER}risk: [{name: f, actions: [x], weight: 5}]\nrules: [{id: r, actions: [x], effect: allow, reason: R.}]\n`
    assert.equal(accepts(parse(text)), taken)
    const { diagnostics } = load({ 'main.yaml': policy, 'a.test.yaml': text })
    assert.equal(diagnostics.length === 0, taken, JSON.stringify(diagnostics))
  })
}

/** Every member of every mapping, by its path, with its schema. */
function membersOf(schema: unknown, path = ''): [string, Record<string, unknown>][] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, value]) => {
    // Examples are no schemas.
    if (key === 'examples' || key === 'default') return []
    const below = membersOf(value, `${path}/${key}`)
    const members = key === 'properties' ? Object.entries(value as Record<string, Record<string, unknown>>) : []
    return [
      ...members.map(([name, member]): [string, Record<string, unknown>] => [`${path}/${name}`, member]),
      ...below,
    ]
  })
}

test('schema of tests: every key is described, and an example or its values show what to write', () => {
  const members = membersOf(SCHEMA)
  assert.ok(members.length > 40)
  for (const [path, member] of members) {
    assert.ok(typeof member.description === 'string' && member.description.length > 5, `${path} has no description`)
    const shows = ['examples', 'enum', 'const', 'minimum', 'properties', 'items', 'default']
    assert.ok(
      shows.some((key) => key in member) || /readers|name|once/i.test(String(member.description)),
      `${path} shows no value`,
    )
  }
})

test('schema of tests: every example is what the schema takes', () => {
  const compile = (schema: object) => schemaCompiler({ allErrors: true }).compile(schema)
  for (const [path, member] of membersOf(SCHEMA)) {
    for (const example of Array.isArray(member.examples) ? member.examples : []) {
      assert.ok(compile(member)(example), `${path}: ${JSON.stringify(example)}`)
    }
  }
})
