import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DIAGNOSTICS } from '../../src/authoring/diagnostics/diagnostics.ts'
import { processorMs } from '../processor.ts'
import { load, spots, testdata, testdataNames } from './sources.ts'

const expected: Record<string, [code: string, line: number, column: number][]> = JSON.parse(
  testdata('invalid/expected.json').toString(),
)

for (const [name, wanted] of Object.entries(expected)) {
  test(`invalid: ${name}`, () => {
    const file = `main.${name.endsWith('.json') ? 'json' : 'yaml'}`
    const { set, diagnostics } = load({ [file]: testdata(`invalid/${name}`) })
    assert.equal(set, undefined)
    assert.deepEqual(spots(diagnostics), wanted, JSON.stringify(diagnostics, null, 1))
    assert.ok(diagnostics.every((diagnostic) => diagnostic.file === `acme/${file}`))
  })
}

test('invalid: every document of the folder is in the table', () => {
  const names = testdataNames('invalid').filter((name) => !/^(hostile-|expected|SOURCES)/.test(name))
  assert.deepEqual(names, Object.keys(expected).sort())
})

test('invalid: the table shows most codes of errors', () => {
  const shown = new Set(Object.values(expected).flatMap((faults) => faults.map(([code]) => code)))
  // These need several files, a file too large to keep, or a folder: see load.test.ts.
  const elsewhere = [
    'GATE1001',
    'GATE1017',
    'GATE1018',
    'GATE1019',
    'GATE1020',
    'GATE1021',
    'GATE1022',
    'GATE1023',
    'GATE1211',
    'GATE1501',
    'GATE1502',
    'GATE1503',
    'GATE1504',
    'GATE1505',
    'GATE1506',
    'GATE1507',
    'GATE1508',
    'GATE1509',
    'GATE1510',
  ]
  const errors = Object.entries(DIAGNOSTICS).flatMap(([code, { severity }]) => (severity === 'error' ? [code] : []))
  assert.deepEqual(
    errors.filter((code) => !shown.has(code)),
    elsewhere,
  )
})

for (const name of testdataNames('invalid').filter((name) => name.startsWith('hostile-'))) {
  test(`invalid: ${name} is refused in no time`, () => {
    const start = processorMs()
    const { set } = load({ 'main.yaml': testdata(`invalid/${name}`) })
    assert.equal(set, undefined)
    assert.ok(processorMs() - start < 500)
  })
}
