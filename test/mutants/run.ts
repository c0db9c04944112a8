import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Mutant, mutated } from './mutants.ts'

export interface Result extends Pick<Mutant, 'name' | 'promise' | 'file'> {
  outcome: 'caught' | 'survived'
  ms: number
}

export interface RunOptions {
  /** Run the whole of `npm test`. */
  fast: boolean
  workers: number
  /** Told each result as it comes. */
  tell(result: Result): void
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** A mutant whose tests hang is noticed. */
const LIMIT_MS = 600_000

/** Each worker has a copy of the project, and takes one mutant after the other. */
export async function runMutants(mutants: readonly Mutant[], options: RunOptions): Promise<Result[]> {
  const results: Result[] = []
  const queue = [...mutants]
  const work = async (): Promise<void> => {
    const dir = copyOfProject()
    try {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const result = await runMutant(dir, mutant, options.fast)
        results.push(result)
        options.tell(result)
      }
    } finally {
      rmSync(dir, { recursive: true })
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.workers, mutants.length) }, work))
  return results
}

function copyOfProject(): string {
  const dir = mkdtempSync(join(tmpdir(), 'gate-sidecar-mutants-'))
  const isOurs = (path: string): boolean => !['node_modules', '.git'].includes(basename(path))
  cpSync(ROOT, dir, { recursive: true, filter: isOurs })
  mkdirSync(join(dir, 'tmp'))
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  return dir
}

async function runMutant(dir: string, mutant: Mutant, fast: boolean): Promise<Result> {
  const path = join(dir, mutant.file)
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, mutated(text, mutant))
  const sinceMs = performance.now()
  const outcome = (await isNoticed(dir, mutant.tests, fast)) ? 'caught' : 'survived'
  const ms = performance.now() - sinceMs
  writeFileSync(path, text)
  return { name: mutant.name, promise: mutant.promise, file: mutant.file, outcome, ms }
}

async function isNoticed(dir: string, tests: readonly string[], fast: boolean): Promise<boolean> {
  if (fast) return fails(dir, 'npm', ['test'])
  for (const test of tests) {
    if (await fails(dir, process.execPath, ['--import', 'tsx', '--test-reporter=tap', test])) return true
  }
  return false
}

/** Ends with the first test that fails, with whatever the tests started. */
function fails(dir: string, command: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, TMPDIR: join(dir, 'tmp') }
    const child = spawn(command, args, { cwd: dir, env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    const end = (): void => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, 'SIGKILL')
    }
    const timer = setTimeout(end, LIMIT_MS)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (/^\s*not ok /m.test(text)) end()
    })
    child.once('error', reject)
    child.once('exit', (code) => {
      clearTimeout(timer)
      resolve(code !== 0)
    })
  })
}
