import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { COMMAND, serve, startGate } from './gate.ts'
import { cpuMs, ROOT, temporaryFolder } from './processes.ts'
import { median, round } from './stats.ts'

export interface StartResult {
  what: string
  /** Processor time: the least of the runs, which other load has disturbed least, and their median. */
  leastMs: number
  medianMs: number
  peakMb: number
  /** Least time as a multiple of that of Node.js itself. */
  timesNode: number
}

export interface ServeStart {
  /** Medians until the service listens: elapsed time, and processor time. */
  wallMs: number
  cpuMs: number
}

const RUNS = 9
const POLICIES = join(ROOT, 'policies')
const USAGE = fileURLToPath(new URL('./usage.cjs', import.meta.url))
const HOOK = join(ROOT, 'test/testdata/claude-code/read.json')

/** Measures the start of Node.js, and of each command that is run often; the hook asks a running sidecar. */
export async function measureStart(): Promise<StartResult[]> {
  const sidecar = await startGate()
  const { key, tenant } = sidecar
  const env = { GATE_SIDECAR_URL: sidecar.url, GATE_SIDECAR_TENANT: tenant, GATE_SIDECAR_KEY: key }
  const check = ['check', '--policies', POLICIES, '--tenant', 'acme', '--action', 'payment.transfer']
  try {
    const node = await measure('node -e 0', ['-e', '0'])
    const rows = [
      node,
      await measure('--version', [COMMAND, '--version']),
      await measure('validate, all sets', [COMMAND, 'validate', '--policies', POLICIES]),
      await measure('check, one set', [COMMAND, ...check, '--context', '{"amount": 25}']),
      await measure('hook claude-code', [COMMAND, 'hook', 'claude-code'], env),
    ]
    return rows.map((row) => ({ ...row, timesNode: round(row.leastMs / node.leastMs, 2) }))
  } finally {
    await sidecar.stop()
  }
}

async function measure(what: string, args: readonly string[], env: Record<string, string> = {}) {
  const runs: { cpuMs: number; peakMb: number }[] = []
  for (let i = 0; i < RUNS; i += 1) runs.push(await usageOf(args, env))
  const times = runs.map(({ cpuMs }) => cpuMs)
  const peakMb = round(median(runs.map(({ peakMb }) => peakMb)), 0)
  return { what, leastMs: round(Math.min(...times), 0), medianMs: round(median(times), 0), peakMb, timesNode: 1 }
}

async function usageOf(args: readonly string[], env: Record<string, string>) {
  const stdio = ['pipe', 'ignore', 'ignore', 'pipe'] as const
  const child = spawn(process.execPath, ['--require', USAGE, ...args], {
    stdio: [...stdio],
    env: { ...process.env, ...env },
  })
  // A program that does not read it may have ended before.
  child.stdin?.on('error', () => undefined).end(readFileSync(HOOK))
  let told = ''
  child.stdio[3]?.on('data', (chunk: Buffer) => {
    told += chunk
  })
  await once(child, 'close')
  return JSON.parse(told) as { cpuMs: number; peakMb: number }
}

/** Measures the start of the service with the policies of one tenant, policies/acme, and an existing data file. */
export async function measureServe(): Promise<ServeStart> {
  const policies = temporaryFolder('policies')
  cpSync(join(POLICIES, 'acme'), join(policies, 'acme'), { recursive: true })
  const data = temporaryFolder('serve')
  const runs: ServeStart[] = []
  for (let i = 0; i <= RUNS; i += 1) {
    const beganMs = performance.now()
    const server = await serve(data, { policies })
    runs.push({ wallMs: performance.now() - beganMs, cpuMs: cpuMs(server.process) ?? Number.NaN })
    await server.stop()
  }
  // The first one makes the data file.
  const counted = runs.slice(1)
  const middle = (pick: (run: ServeStart) => number) => round(median(counted.map(pick)), 0)
  return { wallMs: middle((run) => run.wallMs), cpuMs: middle((run) => run.cpuMs) }
}
