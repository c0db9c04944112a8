import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { builds, isWithin, type Part, partsOf, ROOT, reads, type Tier } from './parts.ts'
import { startPostgres } from './postgres-process.ts'

/*
 * Runs the tests: `npm test` the fast tier, `npm run test:full` all, `npm run test:rest` what all adds to the fast tier.
 * Names of folders, files or commands choose among the parts of the tier: `npm test -- test/http`.
 */

const COUNTS = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo'] as const
type Counts = Record<(typeof COUNTS)[number], number>

interface Result {
  name: string
  passed: boolean
  output: string
  counts: Counts
  wallMs: number
  /** Processor time of its own processes and their children. */
  processorMs: number
}

/** Runs its arguments, and then prints on the third stream what processor time they took. */
const TIMED = '"$@"; code=$?; times >&3; exit $code'

/** Runs one part to its end. */
function runPart({ name, command, files }: Part, tier: Tier): Promise<Result> {
  const beginMs = performance.now()
  const env = { ...process.env, ...(tier !== 'fast' && { TEST_TIER: 'full' }) }
  const child = spawn('sh', ['-c', TIMED, 'sh', ...command], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const texts = ['', '', '', '']
  child.stdio.forEach((stream, i) => {
    // Output of the tests and of the reporter stays in the order in which it came.
    const to = i === 3 ? 3 : 1
    stream?.on('data', (bytes: Buffer) => {
      texts[to] += bytes.toString()
    })
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      const [, output = '', , times = ''] = texts
      const { counts, passed } = judge(output, code === 0, files.length > 0)
      const told = `${output}\nThe process ended with ${code}.`
      resolve({
        name,
        passed,
        output: told,
        counts,
        wallMs: performance.now() - beginMs,
        processorMs: processorMs(times),
      })
    })
  })
}

/** A process that fails, or tests nothing, has failed even if each of its tests passed. */
function judge(output: string, ended: boolean, isTests: boolean): { counts: Counts; passed: boolean } {
  const counts = countsIn(output)
  // One test is that of test/part.ts.
  // A package that ends the process may end it with another code than that of its tests.
  const passed = ended && counts.fail + counts.cancelled === 0 && (!isTests || counts.tests > 1)
  if (!passed && counts.fail + counts.cancelled === 0) {
    counts.fail += 1
    counts.tests += 1
  }
  return { counts, passed }
}

/** From the summaries of node:test, or of unittest. */
function countsIn(output: string): Counts {
  const sum = (pattern: RegExp): number => [...output.matchAll(pattern)].reduce((total, [, n]) => total + Number(n), 0)
  const counts = COUNTS.map((name) => [name, sum(new RegExp(`^(?:ℹ|#) ${name} (\\d+)$`, 'gm'))])
  const result: Counts = Object.fromEntries(counts)
  const python = sum(/^Ran (\d+) tests? in /gm)
  const failed = sum(/^FAILED \(.*failures=(\d+)/gm) + sum(/^FAILED \(.*errors=(\d+)/gm)
  const skipped = sum(/^(?:OK|FAILED) \(.*skipped=(\d+)/gm)
  result.tests += python
  result.fail += failed
  result.skipped += skipped
  result.pass += python - failed - skipped
  return result
}

/** @param times as POSIX has it: the second line is of the processes that were started and have ended */
function processorMs(times: string): number {
  const children = times.split('\n')[1] ?? ''
  const spent = [...children.matchAll(/(\d+)m([\d.]+)s/g)]
  return spent.reduce((total, [, minutes, seconds]) => total + Number(minutes) * 60_000 + Number(seconds) * 1000, 0)
}

const inSeconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(7)

function printLine({ name, passed, counts, wallMs, processorMs }: Result): void {
  const tests = String(counts.tests).padStart(6)
  process.stdout.write(
    `${passed ? '✔' : '✖'} ${name.padEnd(40)}${tests}${inSeconds(wallMs)} s${inSeconds(processorMs)} s\n`,
  )
}

/** Returns the failures; all output where the process broke off before its summary. */
function details({ name, output }: Result): string {
  const [, failing] = output.split('✖ failing tests:')
  return `\n✖ ${name}\n${failing ?? output}\n`
}

/**
 * Parts at once beyond one for each processor, since some wait more than they work. Parts of the full tier keep the
 * processors busy; more of them would only wait for each other, and meet their time limits on a slow machine.
 */
const BEYOND: Record<Tier, number> = { fast: 4, full: 2, rest: 2 }

/** Runs the parts, begun in their order. */
async function runAll(parts: readonly Part[], tier: Tier): Promise<Result[]> {
  const waiting = [...parts]
  const results: Result[] = []
  const worker = async (): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const result = await runPart(part, tier)
      printLine(result)
      results.push(result)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() + BEYOND[tier] }, worker))
  return results
}

/** Runs the parts, beside one PostgreSQL server for all that may ask one: its start takes longer than most tests. */
async function runBesideServer(parts: readonly Part[], tier: Tier): Promise<Result[]> {
  const mayAsk = parts.some(({ files }) => files.some((file) => reads(file, 'test/postgres.ts')))
  if (!mayAsk || process.env.GATE_TEST_POSTGRES_URL !== undefined) return runAll(parts, tier)
  const server = await startPostgres()
  process.env.GATE_TEST_POSTGRES_URL = server.url
  try {
    return await runAll(parts, tier)
  } finally {
    await server.stop()
  }
}

const NODE: Part = { name: 'node', command: [process.execPath, '-e', '0'], files: [] }
const NODE_RUNS = 5

/** Least processor time of Node.js that runs nothing: machines and hours differ by a factor of two. */
async function nodeMs(): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < NODE_RUNS; i += 1) times.push((await runPart(NODE, 'fast')).processorMs)
  return Math.min(...times)
}

function printSummary(results: readonly Result[], wallMs: number): void {
  for (const result of results) if (!result.passed) process.stdout.write(details(result))
  const total = (of: (result: Result) => number): number => results.reduce((sum, result) => sum + of(result), 0)
  for (const name of COUNTS) process.stdout.write(`# ${name} ${total(({ counts }) => counts[name])}\n`)
  process.stdout.write(`# duration_ms ${Math.round(wallMs)}\n`)
  process.stdout.write(`# processor_ms ${Math.round(total(({ processorMs }) => processorMs))}\n`)
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { full: { type: 'boolean' }, rest: { type: 'boolean' } },
    allowPositionals: true,
  })
  const tier = values.rest ? 'rest' : values.full ? 'full' : 'fast'
  const names = positionals.map((name) => name.replace(/^\.\//, '').replace(/\/$/, ''))
  const parts = partsOf(tier, names)
  const found = parts.flatMap(({ name, files }) => [name, ...files])
  const unknown = names.filter((name) => !found.some((one) => isWithin(one, name)))
  if (unknown.length > 0) {
    process.stderr.write(`Nothing in the tier "${tier}" is named ${unknown.join(', ')}.\n`)
    return 1
  }
  process.stdout.write(`${'part'.padEnd(42)} tests     wall    processor\n`)
  // Chunks of earlier builds have other names.
  if (names.length === 0) rmSync(join(ROOT, 'dist-test'), { recursive: true, force: true })
  const built = await runAll(builds(parts, names.length === 0), tier)
  const results = built.every(({ passed }) => passed) ? [...built, ...(await runBesideServer(parts, tier))] : built
  printSummary(results, performance.now())
  process.stdout.write(`# node_ms ${Math.round(await nodeMs())}\n`)
  return results.every(({ passed }) => passed) ? 0 : 1
}

process.exitCode = await main()
