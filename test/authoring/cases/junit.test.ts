import assert from 'node:assert/strict'
import { test } from 'node:test'
import { casesOf } from '../../../src/authoring/cases/cases.ts'
import { junitOf } from '../../../src/authoring/cases/junit.ts'
import { reportOf, skippedReport } from '../../../src/authoring/cases/report.ts'
import { runCase } from '../../../src/authoring/cases/run.ts'
import { HEADER, load } from '../sources.ts'
import { readXml } from './xml-reader.ts'

const HOSTILE = [
  '<a b="c">&amp;',
  ']]>',
  '\'"',
  '\u0000\u001b[31m',
  '\u202eevil',
  '\ufffe\uffff',
  'a\nb',
  '<!--',
  'ünïcödé 🚀',
]

async function reportsOf(tests: string, names: readonly string[]) {
  const loaded = load({
    'main.yaml': `${HEADER}rules: [{id: r, actions: [x], effect: allow, reason: R.}]\n`,
    'a.test.json': tests,
  })
  const { set } = loaded
  assert.ok(set, JSON.stringify(loaded.diagnostics))
  assert.deepEqual(
    loaded.tests.map(({ name }) => name),
    names,
  )
  const cases = loaded.tests.flatMap(casesOf)
  return Promise.all(
    cases.map(async (asked) =>
      asked.test.skip === undefined ? reportOf(set, await runCase(set, asked), 2, true) : skippedReport(asked),
    ),
  )
}

test('junit: whatever tests are called, the XML is well-formed and says the names', async () => {
  const tests = HOSTILE.flatMap((name) => [
    { name, matrix: { actions: ['x'], contexts: [name] }, expect: { decision: 'deny', reason: name } },
    { name: `${name} skipped`, skip: name, matrix: { actions: ['x'], contexts: [name] }, expect: { decision: 'deny' } },
  ])
  const file = JSON.stringify({
    apiVersion: 'gate-sidecar/v1',
    tenant: 'acme',
    contexts: Object.fromEntries(HOSTILE.map((name) => [name, {}])),
    tests,
  })
  const reports = await reportsOf(
    file,
    tests.map(({ name }) => name),
  )
  const text = junitOf(
    reports,
    ({ answer }) => [answer.reason, ...HOSTILE],
    (file) => file,
  )
  const elements = readXml(text)
  assert.deepEqual(
    elements.filter(({ name }) => name === 'testsuites').map(({ attributes }) => attributes),
    [{ name: 'gate-sidecar', tests: '18', failures: '9', errors: '0', skipped: '9', time: '0.018' }],
  )
  const classes = elements.filter(({ name }) => name === 'testcase').map(({ attributes }) => attributes.classname)
  assert.deepEqual(classes.slice(0, 4), ['<a b="c">&amp;', '<a b="c">&amp; skipped', ']]>', ']]> skipped'])
  assert.equal(classes[6], '\\u{0}\\u{1b}[31m')
  assert.equal(classes[10], '\ufffd\ufffd')
  assert.equal(elements.filter(({ name }) => name === 'failure').length, 9)
  assert.equal(elements.filter(({ name }) => name === 'skipped')[0]?.attributes.message, '<a b="c">&amp;')
})

test('junit: no case at all is a report too', () => {
  assert.deepEqual(
    readXml(junitOf([], () => [], String)).map(({ name }) => name),
    ['testsuites'],
  )
})
