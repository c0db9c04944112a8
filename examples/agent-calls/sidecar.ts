import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../', import.meta.url)
const BIN = fileURLToPath(new URL('bin/gate-sidecar.js', ROOT))
const POLICIES = fileURLToPath(new URL('policies', ROOT))
const TENANT = 'demo'
const TIMEOUT_MS = 10_000

/** A step did not do what it says. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed'
}

export function expect(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new StepFailed(otherwise)
}

export interface Ended {
  code: number | null
  stdout: string
}

/** A temporary folder, and what runs on it: the built program, as anybody would run it. */
export interface Folder {
  dir: string
  /** Starts `gate-sidecar …` with its data in this folder. */
  start(args: readonly string[]): ChildProcess
  /** Ends what runs and removes the folder, at once. */
  remove(): void
}

export interface Sidecar {
  url: string
  /** Sends a request with a key, and gives the `data` of the answer. @throws StepFailed unless it is a 200 */
  call<T>(key: string, method: 'GET' | 'POST', path: string, body?: object): Promise<T>
  /** Ends the service as an operator would; gives its exit code. */
  stop(): Promise<number | null>
}

export function temporaryFolder(): Folder {
  expect(existsSync(new URL('dist/main.js', ROOT)), 'The program is not built. Run `npm ci` or `npm run build`.')
  const dir = mkdtempSync(join(tmpdir(), 'gate-sidecar-demo-'))
  const running = new Set<ChildProcess>()
  return {
    dir,
    start(args) {
      const child = spawn(process.execPath, [BIN, ...args], {
        env: { ...withoutSettings(process.env), GATE_SIDECAR_DATA: join(dir, 'data') },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      running.add(child)
      child.once('exit', () => running.delete(child))
      return child
    },
    remove() {
      for (const child of running) child.kill('SIGKILL')
      rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
    },
  }
}

/** What is set for the user's own service is not meant for this one. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GATE_SIDECAR_')))
}

/** Runs `gate-sidecar …` on the folder, to its end. */
export async function run(folder: Folder, args: readonly string[]): Promise<Ended> {
  const child = folder.start(args)
  let stdout = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout })))
}

export async function startSidecar(folder: Folder): Promise<Sidecar> {
  const server = folder.start(['serve', '--port', '0', '--policies', POLICIES])
  const ended = new Promise<number | null>((resolve) => server.once('exit', resolve))
  const url = await listening(server, ended)
  return {
    url,
    call: (key, method, path, body) => call(url, key, method, path, body),
    stop() {
      server.kill('SIGTERM')
      return ended
    },
  }
}

/** The address on which a service that was started says that it listens. */
export async function listening(server: ChildProcess, ended: Promise<number | null>): Promise<string> {
  const { stdout } = server
  if (stdout === null) throw new Error('the service has no output')
  return new Promise((resolve, reject) => {
    void ended.then((code) => reject(new StepFailed(`The service ended with ${code} before it listened.`)))
    createInterface({ input: stdout }).on('line', (line) => {
      const { msg, url }: { msg?: string; url?: string } = JSON.parse(line)
      if (msg === 'listening' && url !== undefined) resolve(url)
    })
  })
}

async function call<T>(url: string, key: string, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(url + path, {
    method,
    headers: { 'x-api-key': key, 'x-tenant-id': TENANT, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const answer: { data?: T; message?: string } = JSON.parse(await response.text())
  expect(
    response.status === 200 && answer.data !== undefined,
    `${method} ${path}: ${response.status} ${answer.message}`,
  )
  return answer.data
}
