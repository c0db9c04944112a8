import { accessSync, constants, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { progressBar } from '../examples/agent-calls/show.ts'
import { temporaryFolder } from '../examples/agent-calls/sidecar.ts'
import { failureOf } from '../src/cli/failure.ts'
import { rendered } from '../src/cli/output.ts'
import { endProgress } from '../src/cli/progress.ts'
import { askOverHttp } from './ask.ts'
import { type Corpus, callsOf, readCorpus, sourcesOf } from './corpus.ts'
import { HELP, type Options, optionsOf } from './options.ts'
import { type Decided, replay } from './replay.ts'
import { reportOf } from './report.ts'
import { policiesOf, startSidecar } from './sidecar.ts'
import { scoresOf, summary } from './summary.ts'

/** `npm run evaluate`: recorded sessions of agents go through a running sidecar, and what it decided is scored. */

async function evaluate(options: Options): Promise<void> {
  const corpus = readCorpus(options.corpus)
  const tenants = sourcesOf(corpus)
  policiesOf(tenants, options.policies)
  for (const file of [options.out, options.json, options.decisions]) {
    // Told before the replay, not after it.
    if (file !== undefined) accessSync(dirname(file), constants.W_OK)
  }
  const decided = await replayed(corpus, options)
  const decisions = new Map(decided.map(({ id, decision }) => [id, decision]))
  if (options.decisions !== undefined) writeFileSync(options.decisions, decided.map(lineOf).join(''))
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify(scoresOf(corpus, decisions), null, 2)}\n`)
  if (options.out !== undefined) writePage(options.out, corpus, decided, decisions, options.concurrency)
  process.stdout.write(
    summary(corpus, decisions)
      .map((line) => `${rendered(line, process.stdout)}\n`)
      .join(''),
  )
}

async function replayed(corpus: Corpus, options: Options): Promise<Decided[]> {
  const folder = temporaryFolder()
  process.once('exit', () => folder.remove())
  const calls = callsOf(corpus)
  const sidecar = await startSidecar(folder, calls, options.policies)
  const progress = progressBar(
    [...calls.values()].reduce((sum, count) => sum + count, 0),
    process.stderr.isTTY === true,
  )
  const decided = await replay(corpus.sessions, askOverHttp(sidecar.url, sidecar.keys), {
    concurrency: options.concurrency,
    progress,
  })
  await sidecar.stop()
  return decided
}

const lineOf = (decided: Decided): string => `${JSON.stringify(decided)}\n`

function writePage(
  out: string,
  corpus: Corpus,
  decided: readonly Decided[],
  decisions: ReadonlyMap<string, string>,
  concurrency: number,
): void {
  const chart = out.replace(/(?:\.md)?$/, '.svg')
  const latencies = decided.map(({ latency_ms }) => latency_ms)
  const deciders = new Map(decided.map(({ id, rule }) => [id, rule]))
  const { page, svg } = reportOf(corpus, decisions, { concurrency, latencies, chartName: basename(chart), deciders })
  writeFileSync(out, page)
  if (svg !== undefined) writeFileSync(chart, svg)
}

/** The command, with what it leaves behind when it ends in any way. */
async function main(): Promise<void> {
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  const options = optionsOf(process.argv.slice(2))
  if (options === 'help') process.stdout.write(HELP)
  else await evaluate(options)
}

try {
  await main()
} catch (error) {
  const { exitCode, message } = failureOf(error)
  endProgress(process)
  if (message !== undefined) process.stderr.write(`evaluate: ${message}\n`)
  // The sidecar may still run, and would keep this process waiting.
  process.exit(exitCode)
}
