import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Option } from 'commander'
import { coverageTotal, percentOf } from '../../authoring/cases/coverage.ts'
import { FILTER_KEYS, type Filter, parseFilter } from '../../authoring/cases/filter.ts'
import { junitOf } from '../../authoring/cases/junit.ts'
import { lcovOf } from '../../authoring/cases/lcov.ts'
import { countsOf } from '../../authoring/cases/report.ts'
import type { TenantFolder } from '../../authoring/load/files.ts'
import { counted } from '../../base/counted.ts'
import { visible } from '../../base/visible.ts'
import { readPolicyFolders } from '../../files/read-folders.ts'
import { addCommonOptions, type GateCommand } from '../command.ts'
import { type CommonOptions, collect, EXIT, UsageError, valueParser } from '../context.ts'
import { type Line, print } from '../output.ts'
import { caseProgress, endProgress } from '../progress.ts'
import { policiesRoot } from '../tenant-folders.ts'
import { coverageJson, coverageLines, totalLine } from './coverage-lines.ts'
import { testsJson } from './json.ts'
import { summaryLine, traceLines, treeLines } from './lines.ts'
import { runTests, type TestFolder, type TestRun, testFolders } from './run.ts'
import { watchFolders } from './watch.ts'

interface TestOptions extends CommonOptions {
  tenant?: string
  filter?: readonly string[]
  format: 'tree' | 'json' | 'junit'
  verbose?: boolean
  watch?: boolean
  coverage?: boolean
  lcov?: string
  minCoverage?: number
}

const percentArgument = valueParser(
  (text) => (/^\d{1,3}(?:\.\d{1,3})?$/.test(text) && Number(text) <= 100 ? Number(text) : undefined),
  'A number from 0 to 100',
)

export function addTestCommand(program: GateCommand): void {
  addCommonOptions(program.command('test'), 'policies')
    .description('run the tests of all policies (*.test.yaml); exit 1 if a test fails or none runs')
    .option('--tenant <id>', 'only the policies of this tenant')
    .option(
      '--filter <pattern>',
      `only tests whose name contains this, or KEY=PATTERN with * (${FILTER_KEYS.join(', ')}); if repeated, one of each key must match`,
      collect,
    )
    .addOption(new Option('--format <format>', 'output format').choices(['tree', 'json', 'junit']).default('tree'))
    .option('--verbose', 'show every case, not only the failed ones')
    .option('--watch', 'run again whenever a file changes')
    .option(
      '--coverage',
      'show outcomes of rules, factors and comparisons, and boundaries of thresholds, that no case covers',
    )
    .option('--lcov <file>', 'write the coverage in the lcov format')
    .addOption(new Option('--min-coverage <percent>', 'fail below this coverage').argParser(percentArgument))
    .example('test --tenant acme --filter refunds --coverage')
    .action(test)
}

async function test(options: TestOptions): Promise<void> {
  const { io } = options
  const root = policiesRoot(options)
  const pathOf = (file: string): string => shownPath(root, file)
  const filters = (options.filter ?? []).map(filterOf)
  const runOn = async (folders: readonly TenantFolder[]): Promise<boolean> => {
    const loaded = testFolders(folders, root, options.tenant)
    const run = await runTests(loaded, { filters, withCoverage: wantsCoverage(options) }, caseProgress(io)).finally(
      () => endProgress(io),
    )
    const problems = problemsOf(run, loaded, options)
    show(run, problems, options, pathOf)
    if (options.lcov !== undefined) writeFileSync(options.lcov, lcovOf(run.coverage, pathOf))
    return problems.length === 0 && countsOf(run.reports).failed === 0
  }
  if (options.watch) return watchFolders(io, root, async (folders) => void (await runOn(folders)))
  if (!(await runOn(readPolicyFolders(root)))) io.exitCode = EXIT.negative
}

function filterOf(text: string): Filter {
  const filter = parseFilter(text)
  if (filter === undefined) throw new UsageError(`--filter: ${text} is not an action pattern such as action=payment.*.`)
  return filter
}

function wantsCoverage({ coverage, lcov, minCoverage }: TestOptions): boolean {
  return coverage === true || lcov !== undefined || minCoverage !== undefined
}

/** The path from the current folder, where tools look for it. */
function shownPath(root: string, file: string): string {
  const path = relative(process.cwd(), join(root, file))
  return path.startsWith('..') ? join(root, file) : path
}

/** Reasons to fail the command other than a failed case. */
function problemsOf({ reports, coverage }: TestRun, folders: readonly TestFolder[], options: TestOptions): string[] {
  const { passed, failed, skipped } = countsOf(reports)
  if (passed + failed === 0) return [nothingRan(folders, skipped, options)]
  const total = coverageTotal(coverage)
  const { minCoverage = 0 } = options
  if (total.covered * 100 >= minCoverage * total.outcomes) return []
  return [`The coverage of ${percentOf(total)} % is below the ${minCoverage} % of --min-coverage.`]
}

/** Limit of test names shown when a filter matches none. */
const MAX_NAMES = 20

function nothingRan(folders: readonly TestFolder[], skipped: number, { filter }: TestOptions): string {
  if (skipped > 0) return `No test ran: ${counted(skipped, 'case')} skipped, and no others.`
  const names = folders.flatMap(({ tests }) => tests.map(({ name }) => name))
  if (names.length === 0) {
    const tenants = folders.map(({ tenant }) => tenant).join(', ')
    return `No test ran: there is no *.test.yaml file for ${tenants}.`
  }
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  return `No test ran: no case matches --filter ${filter?.join(' ') ?? ''}; the tests are ${names.slice(0, MAX_NAMES).join(', ')}${more}.`
}

/** A line without colours, with terminal control characters made visible. */
function plain(line: Line): string {
  return visible(
    (typeof line === 'string' ? [line] : line).map((part) => (typeof part === 'string' ? part : part.text)).join(''),
  )
}

function show(
  { reports, coverage, ms }: TestRun,
  problems: readonly string[],
  options: TestOptions,
  pathOf: (file: string) => string,
): void {
  const json = options.json === true || options.format === 'json'
  if (!json && options.format === 'junit') {
    const text = junitOf(reports, (failure) => traceLines(failure).map(plain), pathOf)
    options.io.stdout.write(text)
    for (const problem of problems) options.io.stderr.write(`gate-sidecar: ${plain(problem)}\n`)
    return
  }
  const withCoverage = wantsCoverage(options)
  print(
    { ...options, json },
    { ...testsJson(reports, ms), problems, ...(withCoverage && { coverage: coverageJson(coverage) }) },
    () => [
      ...treeLines(reports, { verbose: options.verbose === true }),
      ...(reports.length > 0 ? [''] : []),
      ...(options.coverage ? [...coverageLines(coverage), ''] : withCoverage ? [totalLine(coverage)] : []),
      summaryLine(countsOf(reports), ms),
      ...problems,
    ],
  )
}
