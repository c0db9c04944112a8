import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DIAGNOSTICS, type Diagnostic } from '../../src/authoring/diagnostics/diagnostics.ts'
import { brokenCases, type Case, casesOf, loadCase, reportOfAll, spotOf } from './broken.ts'
import { testdata, testdataNames } from './sources.ts'

for (const one of testdataNames('sets').flatMap(casesOf)) {
  test(`set: ${one.name}`, () => {
    const diagnostics = loadCase(one)
    const marked = new Set(one.wanted.map(({ spot }) => spot))
    // Warnings count where they are marked.
    const told = diagnostics.filter((fault) => fault.severity === 'error' || marked.has(spotOf(fault)))
    assert.deepEqual(told.map(spotOf).sort(), one.wanted.map(({ spot }) => spot).sort(), JSON.stringify(told, null, 1))
    for (const { spot, suggestion } of one.wanted) {
      if (suggestion === undefined) continue
      const suggestions = told.filter((fault) => spotOf(fault) === spot).map((fault) => fault.suggestion)
      assert.ok(suggestions.includes(suggestion), `${spot}: ${suggestions.join()} in place of ${suggestion}`)
    }
  })
}

test('report: what authors are told is what report.txt says', () => {
  assert.equal(reportOfAll(), testdata('report.txt').toString())
})

/** The file with the suggestion in place of what is marked; undefined for a list or a folder. */
function applied(
  { files }: Case,
  { file, line, column, endColumn, suggestion }: Diagnostic,
): Case['files'] | undefined {
  const name = file.slice('acme/'.length)
  const bytes = files.get(name)
  if (bytes === undefined || endColumn === undefined || suggestion === null) return undefined
  const lines = Buffer.from(bytes).toString().split('\n')
  const bom = line === 1 && lines[0]?.startsWith('\ufeff') === true ? 1 : 0
  const text = lines[line - 1] ?? ''
  lines[line - 1] = text.slice(0, column - 1 + bom) + suggestion + text.slice(endColumn - 1 + bom)
  return new Map([...files, [name, Buffer.from(lines.join('\n'))]])
}

for (const one of brokenCases()) {
  const isUtf8 = [...one.files.values()].every((bytes) => Buffer.from(Buffer.from(bytes).toString()).equals(bytes))
  if (!isUtf8) continue
  test(`suggestion: written in place of the marked text, it ends the fault: ${one.name}`, () => {
    for (const fault of loadCase(one)) {
      if (fault.suggestion === null) continue
      assert.ok(fault.endColumn !== undefined && fault.suggestion !== '', spotOf(fault))
      const files = applied(one, fault)
      if (files === undefined) continue
      const left = loadCase({ files, lists: one.lists }).map(spotOf)
      assert.ok(!left.includes(spotOf(fault)), `${spotOf(fault)} stays with ${fault.suggestion}`)
      // Text that could be read before can still be read after.
      const broken = left.filter((spot) => /GATE100[34]$/.test(spot)).length
      const before = loadCase(one).filter(({ code }) => /GATE100[34]$/.test(code)).length
      assert.ok(broken <= before, `${fault.suggestion} breaks the text at ${spotOf(fault)}`)
    }
  })
}

test('report: most codes of errors of policies are shown in it', () => {
  const report = testdata('report.txt').toString()
  const missing = Object.entries(DIAGNOSTICS).filter(
    ([code, { severity }]) => severity === 'error' && code < 'GATE1500' && !report.includes(code),
  )
  // These need many rules, faults, comparisons or bytes, or a folder without policies.
  const elsewhere = ['GATE1001', 'GATE1017', 'GATE1018', 'GATE1019', 'GATE1020', 'GATE1021', 'GATE1022', 'GATE1023']
  assert.deepEqual(
    missing.map(([code]) => code),
    elsewhere,
  )
})
