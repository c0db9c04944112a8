import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { testFileSchema } from '../../../src/authoring/editor/editor-schema.ts'
import { schemaCompiler } from '../../../src/base/schema.ts'
import { HEADER, load } from '../sources.ts'

const accepts = schemaCompiler({ allErrors: true }).compile(testFileSchema())

/** Expectations of one test with the context `a`; `true` where both schema and loader accept it. */
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
