import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Case, casesOf } from '../../authoring/cases/cases.ts'
import { type CoverageItem, coverageOf } from '../../authoring/cases/coverage.ts'
import { type Filter, passes } from '../../authoring/cases/filter.ts'
import { type CaseReport, reportOf, skippedReport } from '../../authoring/cases/report.ts'
import { runCase } from '../../authoring/cases/run.ts'
import { textReport } from '../../authoring/diagnostics/text.ts'
import type { TenantFolder } from '../../authoring/load/files.ts'
import { loadPolicySet } from '../../authoring/load/load.ts'
import type { PolicyTest } from '../../authoring/test-files/cases.ts'
import type { PolicySet } from '../../policies/set.ts'
import { CannotRun } from '../context.ts'
import { linesOfAll } from '../policies/report.ts'
import { wantedFolders } from '../tenant-folders.ts'

/** The valid policies of a tenant, and their tests. */
export interface TestFolder {
  tenant: string
  set: PolicySet
  tests: readonly PolicyTest[]
}

export interface TestRun {
  reports: readonly CaseReport[]
  /** Coverage of all sets; empty unless it is counted. */
  coverage: readonly CoverageItem[]
  ms: number
}

/** Limit of failures with an explanation; nobody reads more. */
const MAX_EXPLAINED = 100
/** Cases between two yields, where signals are handled and progress is reported. */
const TURN = 50

/**
 * The folders whose tests run.
 *
 * @throws CannotRun with every fault when the policies of one cannot be used
 */
export function testFolders(folders: readonly TenantFolder[], root: string, tenant: string | undefined): TestFolder[] {
  const loaded = wantedFolders(folders, root, tenant).map(load)
  const faults = loaded.flatMap(({ fault }) => fault ?? [])
  if (faults.length > 0) throw new CannotRun(`No test ran, because the policies have faults:\n${faults.join('\n\n')}`)
  return loaded.flatMap(({ folder }) => folder ?? [])
}

function load(read: TenantFolder): { folder?: TestFolder; fault?: string } {
  const { tenant, source } = read
  if ('problem' in source) return { fault: `The folder of ${tenant} ${source.problem}.` }
  const { set, tests, diagnostics } = loadPolicySet(source)
  if (set !== undefined) return { folder: { tenant, set, tests } }
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  return { fault: textReport(errors, linesOfAll([read])) }
}

/** Runs the tests of all folders, one case after the other. @param tell called with the number of cases done and the total */
export async function runTests(
  folders: readonly TestFolder[],
  { filters, withCoverage }: { filters: readonly Filter[]; withCoverage: boolean },
  tell: (done: number, of: number) => void,
): Promise<TestRun> {
  const started = performance.now()
  const planned = folders.map((folder) => ({
    folder,
    cases: folder.tests.flatMap(casesOf).filter((asked) => passes(filters, asked)),
  }))
  const total = planned.reduce((sum, { cases }) => sum + cases.length, 0)
  const reports: CaseReport[] = []
  const coverage: CoverageItem[] = []
  let failures = 0
  for (const { folder, cases } of planned) {
    const counted = withCoverage ? coverageOf(folder.set) : undefined
    for (const asked of cases) {
      if (reports.length % TURN === 0) {
        tell(reports.length, total)
        await nextTurn()
      }
      const { report, judgement } = await timed(folder.set, asked, failures < MAX_EXPLAINED)
      if (judgement !== undefined) counted?.add(judgement)
      if (report.failure !== undefined) failures += 1
      reports.push(report)
    }
    coverage.push(...(counted?.items() ?? []))
  }
  return { reports, coverage, ms: performance.now() - started }
}

async function timed(set: PolicySet, asked: Case, explained: boolean) {
  if (asked.test.skip !== undefined) return { report: skippedReport(asked), judgement: undefined }
  const started = performance.now()
  const result = await runCase(set, asked)
  return { report: reportOf(set, result, performance.now() - started, explained), judgement: result.judgement }
}
