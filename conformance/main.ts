import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { print } from '../src/cli/output.ts'
import { askCode, compare, type Loaded, loadAll, type Result } from './compare.ts'
import { reportLines, summaryOf } from './report.ts'
import { startService, writePolicies } from './service.ts'
import { readTable, type Table } from './table.ts'

/**
 * `npm run conformance`: translates published policies of another toolkit and holds our decisions against those that its
 * own evaluator recorded. Exit 1 when one differs that is not refused on purpose, 2 when it is called wrongly.
 */

const VENDORED = fileURLToPath(new URL('./agt/', import.meta.url))
const USAGE = `Usage: npm run conformance [-- [options] [folder]]

The folder holds policies.json and decisions.jsonl; without it, the recorded decisions in conformance/agt.

  --write <folder>  write the translated policies there, in a folder for each
  --http            ask a running sidecar (npm run build first) instead of the code that decides
  --json            print JSON`

async function results(all: readonly Loaded[], { recorded }: Table, http: boolean): Promise<Result[]> {
  const service = http ? await startService(all) : undefined
  try {
    const found: Result[] = []
    for (const loaded of all) {
      const own = recorded.filter(({ policy }) => policy === loaded.translation.policy.id)
      found.push(await compare(loaded, own, service?.ask ?? askCode))
    }
    return found
  } finally {
    await service?.stop()
  }
}

function options() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        write: { type: 'string' },
        http: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${USAGE}\n`)
    return undefined
  }
}

async function main(): Promise<number> {
  const given = options()
  if (given === undefined || given.positionals.length > 1) return 2
  const { write, http, json, help } = given.values
  if (help) {
    process.stdout.write(`${USAGE}\n`)
    return 0
  }
  const table = readTable(resolve(given.positionals[0] ?? VENDORED))
  const all = loadAll(table)
  if (write !== undefined) writePolicies(all, resolve(write))
  const found = await results(all, table, http)
  const summary = summaryOf(found)
  print({ io: process, json }, { summary, results: found }, () => reportLines(found))
  return summary.disagreed + summary.invalid > 0 ? 1 : 0
}

process.exitCode = await main()
