import { fileURLToPath } from 'node:url'
import { type LoadOptions, type LoadResult, load } from './load.ts'
import { run } from './processes.ts'

/** The load in a process of its own, so that neither the orchestration nor its garbage is measured. */
export async function loadInProcess(options: LoadOptions): Promise<LoadResult> {
  const output = await run(process.execPath, [
    '--import',
    'tsx',
    fileURLToPath(import.meta.url),
    JSON.stringify(options),
  ])
  return JSON.parse(output) as LoadResult
}

const argument = process.argv[2]
if (process.argv[1] === fileURLToPath(import.meta.url) && argument !== undefined) {
  process.stdout.write(JSON.stringify(await load(JSON.parse(argument) as LoadOptions)))
}
