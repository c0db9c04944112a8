import { grouped } from '../../base/grouped.ts'
import { xmlText } from '../../base/xml.ts'
import { combinationText } from './cases.ts'
import { differenceText } from './differences.ts'
import { type CaseReport, countsOf, type Failure, fileOf } from './report.ts'

/**
 * The results as JUnit XML, which CI services read: one suite for each test file.
 *
 * @param traceOf the lines that explain a failure
 * @param pathOf where a file is, seen from the root of the repository
 */
export function junitOf(
  cases: readonly CaseReport[],
  traceOf: (failure: Failure) => readonly string[],
  pathOf: (file: string) => string,
): string {
  const files = grouped(cases, ({ asked }) => fileOf(asked.test))
  const suites = [...files].flatMap(([file, inFile]) => [
    `  <testsuite ${attributes({ name: file, ...totalsOf(inFile) })}>`,
    ...inFile.flatMap((one) => caseLines(one, traceOf, pathOf(file))),
    '  </testsuite>',
  ])
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${attributes({ name: 'gate-sidecar', ...totalsOf(cases) })}>`,
    ...suites,
    '</testsuites>\n',
  ].join('\n')
}

function totalsOf(reports: readonly CaseReport[]): Record<string, string | number> {
  const { cases, failed, skipped } = countsOf(reports)
  const ms = reports.reduce((sum, one) => sum + one.ms, 0)
  return { tests: cases, failures: failed, errors: 0, skipped, time: seconds(ms) }
}

function caseLines(one: CaseReport, traceOf: (failure: Failure) => readonly string[], path: string): string[] {
  const { asked, answer, failure, ms } = one
  const { test } = asked
  const opening = `    <testcase ${attributes({ classname: test.name, name: combinationText(asked), file: path, time: seconds(ms) })}`
  if (answer === null) {
    return [`${opening}>`, `      <skipped ${attributes({ message: test.skip ?? '' })}/>`, '    </testcase>']
  }
  if (failure === undefined) return [`${opening}/>`]
  const message = failure.differences.map(differenceText).join('; ')
  const text = [message, '', ...traceOf(failure)].map(xmlText).join('\n')
  return [
    `${opening}>`,
    `      <failure ${attributes({ message, type: 'difference' })}>${text}</failure>`,
    '    </testcase>',
  ]
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${xmlText(String(value))}"`)
    .join(' ')
}
