import { parseArgs } from 'node:util'
import { MUTANTS } from './mutants.ts'
import { type Result, runMutants } from './run.ts'

/** `npm run mutants`: applies each mutant to a copy of the project, and tells which ones no test notices. */

const HELP = `Usage: npm run mutants -- [--only <part of a name>] [--fast] [--workers <n>] [--json]

  --only     only mutants whose name contains this
  --fast     run \`npm test\` against each mutant, not only the tests that it names
  --workers  how many run at once (2)
  --json     print the results as JSON`

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    fast: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`.padStart(8)

function line({ name, promise, outcome, ms }: Result): string {
  return `${outcome.padEnd(8)} ${seconds(ms)}  ${name}: ${promise}\n`
}

async function main(): Promise<void> {
  const wanted = MUTANTS.filter(({ name }) => name.includes(values.only))
  if (wanted.length === 0) throw new Error(`No mutant has ${values.only} in its name.`)
  const tell = (result: Result): void => void (values.json || process.stdout.write(line(result)))
  const results = await runMutants(wanted, { fast: values.fast, workers: Number(values.workers), tell })
  const survivors = results.filter(({ outcome }) => outcome === 'survived')
  if (values.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
  else process.stdout.write(`${results.length} mutants, ${survivors.length} survived\n`)
  if (survivors.length > 0) process.exitCode = 1
}

if (values.help) process.stdout.write(`${HELP}\n`)
else await main()
