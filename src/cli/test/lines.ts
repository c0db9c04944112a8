import { combinationText } from '../../authoring/cases/cases.ts'
import { valueText } from '../../authoring/cases/differences.ts'
import { type CaseReport, type Counts, countsOf, type Failure, fileOf } from '../../authoring/cases/report.ts'
import { placeText } from '../../authoring/load/declarations.ts'
import type { PolicyTest } from '../../authoring/test-files/cases.ts'
import { counted } from '../../base/counted.ts'
import { grouped } from '../../base/grouped.ts'
import { decisionLines, explanationLines } from '../decisions/explanation-lines.ts'
import { columns, type Line, type Painted, paint } from '../output.ts'

const MARK = {
  passed: paint('green', 'ok  '),
  failed: paint('red', 'FAIL'),
  skipped: paint('yellow', 'skip'),
} as const

/** The tests by file, one a line; below a failing test its failed cases, their differences and explanation. */
export function treeLines(reports: readonly CaseReport[], { verbose }: { verbose: boolean }): Line[] {
  const byTest = grouped(reports, ({ asked }) => asked.test)
  const lines: Line[] = []
  let file = ''
  for (const [test, ofTest] of byTest) {
    if (fileOf(test) !== file) {
      file = fileOf(test)
      lines.push([paint('bold', file)])
    }
    lines.push(...testLines(test, ofTest, verbose).map((line) => indented(line, 2)))
  }
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

function testLines(test: PolicyTest, reports: readonly CaseReport[], verbose: boolean): Line[] {
  const counts = countsOf(reports)
  const shown = reports.filter(({ failure }) => verbose || failure !== undefined)
  const cases = test.skip === undefined ? shown.flatMap(caseLines) : []
  return [
    [markOf(counts), ' ', test.name, '  ', paint('dim', aboutTest(test, counts))],
    ...cases.map((line) => indented(line, 5)),
  ]
}

function markOf({ failed, cases, skipped }: Counts): Painted {
  if (failed > 0) return MARK.failed
  return skipped === cases ? MARK.skipped : MARK.passed
}

function aboutTest({ skip }: PolicyTest, { cases, failed }: Counts): string {
  if (skip !== undefined) return skip
  return failed > 0 ? `${failed} of ${counted(cases, 'case')} failed` : counted(cases, 'case')
}

function caseLines({ asked, answer, failure }: CaseReport): Line[] {
  if (answer === null) return []
  const { decision, rule, riskScore } = answer
  const summary = `${decision}${rule === null ? '' : `, rule ${rule}`}, risk ${riskScore}`
  if (failure === undefined) return [[MARK.passed, ' ', combinationText(asked), '  ', paint('dim', summary)]]
  return [
    [MARK.failed, ' ', combinationText(asked)],
    ...differenceLines(failure).map((line) => indented(line, 5)),
    '',
    ...traceLines(failure).map((line) => indented(line, 5)),
    '',
  ]
}

function differenceLines({ differences }: Failure): Line[] {
  return columns(
    differences.map(({ of, wanted, got, place }) => [
      of,
      `wanted ${valueText(wanted)}`,
      `got ${valueText(got)}`,
      paint('dim', placeText(place)),
    ]),
  )
}

export function traceLines({ answer, explanation }: Failure): Line[] {
  if (explanation === undefined) return ['Only the first failures are explained; use --filter to see this one.']
  return [...decisionLines(answer, answer.riskScore, explanation), ...explanationLines(explanation)]
}

/** `13 tests, 45 cases: 44 passed, 1 failed, 0 skipped (0.12 s).` */
export function summaryLine({ tests, cases, passed, failed, skipped }: Counts, ms: number): Line {
  const summary = `${passed} passed, ${failed} failed, ${skipped} skipped`
  const time = `(${(ms / 1000).toFixed(2)} s)`
  return [
    `${counted(tests, 'test')}, ${counted(cases, 'case')}: `,
    paint(failed > 0 ? 'red' : 'green', summary),
    ` ${time}.`,
  ]
}

function indented(line: Line, by: number): Line {
  if (line === '') return line
  return [' '.repeat(by), ...(typeof line === 'string' ? [line] : line)]
}
