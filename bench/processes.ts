import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const RESULTS = fileURLToPath(new URL('./results/', import.meta.url))

/** Makes a folder beside the results: the system's temporary folder may be memory, where fsync costs nothing. */
export function temporaryFolder(name: string): string {
  mkdirSync(RESULTS, { recursive: true })
  return mkdtempSync(join(RESULTS, `tmp-${name}-`))
}

/** Removes the folders that an interrupted run left behind. */
export function removeTemporaryFolders(): void {
  mkdirSync(RESULTS, { recursive: true })
  for (const name of readdirSync(RESULTS)) {
    if (name.startsWith('tmp-')) rmSync(join(RESULTS, name), { recursive: true })
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no TCP address')
  return address.port
}

export interface Running {
  process: ChildProcess
  stop(): Promise<void>
}

/**
 * Starts a program and waits until `ready` recognises a line of its output.
 * If it exits or takes too long first, the error shows the end of its standard error.
 */
export async function start<T>(
  command: string,
  args: readonly string[],
  ready: (line: string) => T | undefined,
): Promise<Running & { found: T }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: ROOT })
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk}`.slice(-2000)
  })
  const found = await new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${command} did not become ready in 20 s: ${complaint}`)), 20_000)
    child.on('error', reject)
    child.on('exit', (code) => reject(new Error(`${command} ended with ${code}: ${complaint}`)))
    // Reading goes on after the line is found, so that the program never blocks on a full pipe.
    createInterface(child.stdout).on('line', (line) => {
      const value = ready(line)
      if (value === undefined) return
      clearTimeout(timer)
      resolve(value)
    })
  }).catch(async (error: unknown) => {
    await stop(child)
    throw error
  })
  return { process: child, found, stop: () => stop(child) }
}

// Clock tick of user and system time on Linux, which has 100 a second.
const TICK_MS = 10

/** CPU time that the process has used, or undefined where the system does not tell. */
export function cpuMs({ pid }: ChildProcess): number | undefined {
  return cpuMsIn(`/proc/${pid}/stat`)
}

/** CPU time of the thread of the event loop, and that of all others together. */
export function threadCpuMs({ pid }: ChildProcess): { main: number; others: number } | undefined {
  const main = cpuMsIn(`/proc/${pid}/task/${pid}/stat`)
  const all = cpuMsIn(`/proc/${pid}/stat`)
  return main === undefined || all === undefined ? undefined : { main, others: all - main }
}

function cpuMsIn(stat: string): number | undefined {
  if (!existsSync(stat)) return undefined
  // The name in brackets may hold spaces; after it, fields 14 and 15 are the 12th and 13th.
  const fields = readFileSync(stat, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** Resident memory, or NaN where the system does not tell. */
export function residentMb(child: ChildProcess): number {
  const status = `/proc/${child.pid}/status`
  const [, kb] = (existsSync(status) && /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(status, 'utf8'))) || []
  return Math.round(Number(kb) / 1024)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
  await ended
  clearTimeout(timer)
}

/** Runs a program to its end and gives what it printed. */
export async function run(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], cwd: ROOT })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0)
    throw new Error(`${command} ${args.slice(0, 3).join(' ')} ended with ${code}: ${output.slice(0, 500)}`)
  return output
}
