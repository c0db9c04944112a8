import '../declared.ts'
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { COMMANDS } from '../../src/cli/commands.ts'
import { runProgram } from '../../src/cli/run.ts'
import { memoryIo } from './io.ts'

/** The program as it is installed. */
export const BIN = fileURLToPath(new URL('../../bin/gate-sidecar.js', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  cwd?: string
  env?: Record<string, string>
  /** Standard input of the command. */
  input?: string | Uint8Array
}

export interface StartOptions extends RunOptions {
  uid?: number
}

/** Settings and folder of whoever runs the tests are not those of the test. */
function cleanEnv(env: Record<string, string> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GATE_SIDECAR_'))
  return { ...Object.fromEntries(inherited), HOME: '/nonexistent', ...env }
}

function start(args: readonly string[], options: StartOptions, stdio: SpawnOptions['stdio']): ChildProcess {
  const { cwd, uid } = options
  return spawn(process.execPath, [BIN, ...args], {
    env: cleanEnv(options.env),
    stdio,
    ...(cwd !== undefined && { cwd }),
    ...(uid !== undefined && { uid, gid: uid }),
  })
}

/** Runs a command to its end, in this process, from source. */
export async function run(args: readonly string[], { cwd = '.', env, input = '' }: RunOptions = {}): Promise<Ended> {
  const before = process.cwd()
  process.chdir(cwd)
  try {
    const { io, printed, exited } = memoryIo(cleanEnv(env), input)
    await runProgram(COMMANDS, args, io)
    // A hook exits only once its last line is written, so the exit gets another turn of the event loop.
    const code = await Promise.race([exited, setImmediate(Number(io.exitCode ?? 0))])
    return { code, ...printed }
  } finally {
    process.chdir(before)
  }
}

/** Runs a command of the built program to its end, as a process. */
export function runBuilt(args: readonly string[], options: StartOptions = {}): Promise<Ended> {
  const child = start(args, options, [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'])
  // A command that does not read its input to the end has what it wanted.
  child.stdin?.on('error', () => undefined).end(options.input)
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      texts[name] += chunk
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...texts }))
  })
}

/** Returns a shell command's output on a pseudo-terminal with colours, whatever colours the test run has. */
export function onTerminal(command: string, env: Record<string, string> = {}): string {
  const { NO_COLOR: _, FORCE_COLOR: __, CI: ___, ...inherited } = cleanEnv()
  return spawnSync('script', ['-qec', command, '/dev/null'], {
    encoding: 'utf8',
    env: { ...inherited, TERM: 'xterm-256color', ...env },
  }).stdout
}

export interface Following {
  /** Waits until what it has printed matches. */
  until(wanted: RegExp): Promise<string>
  /** The same of its error stream. */
  untilError(wanted: RegExp): Promise<string>
  /** Closes the reading end of its output. */
  closeOutput(): void
  stop(signal: NodeJS.Signals): void
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>
}

/** Runs a command that goes on by itself; it is gone after the test. */
export function follow(
  t: { after(end: () => Promise<void>): void },
  args: readonly string[],
  options: RunOptions = {},
): Following {
  const child = start(args, options, ['ignore', 'pipe', 'pipe'])
  let [stdout, stderr] = ['', '']
  let heard = (): void => undefined
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk
    heard()
  })
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
    heard()
  })
  const ended: Following['ended'] = new Promise((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, stderr })),
  )
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const untilPrinted = (wanted: RegExp, read: () => string): Promise<string> =>
    new Promise((resolve, reject) => {
      void ended.then(() => reject(new Error(`it ended without printing ${wanted}: ${stdout}${stderr}`)))
      heard = () => wanted.test(read()) && resolve(read())
      heard()
    })
  return {
    until: (wanted) => untilPrinted(wanted, () => stdout),
    untilError: (wanted) => untilPrinted(wanted, () => stderr),
    closeOutput: () => void child.stdout?.destroy(),
    stop: (signal) => void child.kill(signal),
    ended,
  }
}

export interface Serving {
  url: string
  /** The log so far, one object a line. */
  log: Record<string, unknown>[]
  /** Sends a signal that does not end it. */
  send(signal: NodeJS.Signals): void
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/** Runs `serve` until it listens; it is gone after the test. `heard` is told each line of the log, also before that. */
export async function serve(
  t: { after(end: () => Promise<void>): void },
  args: readonly string[],
  {
    heard,
    ...options
  }: StartOptions & { heard?: (entry: Record<string, unknown>, send: Serving['send']) => void } = {},
): Promise<Serving> {
  const child = start(['serve', ...args], options, ['ignore', 'pipe', 'inherit'])
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  if (child.stdout === null) throw new Error('no output to read')
  const log: Record<string, unknown>[] = []
  const send = (signal: NodeJS.Signals): void => void child.kill(signal)
  const url = await new Promise<string>((resolve, reject) => {
    void ended.then(({ code }) => reject(new Error(`serve ended with ${code} before it listened`)))
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const entry: Record<string, unknown> = JSON.parse(line)
      log.push(entry)
      heard?.(entry, send)
      if (entry.msg === 'listening') resolve(String(entry.url))
    })
  })
  return {
    url,
    log,
    send,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
