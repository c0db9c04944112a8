import type { ChildProcess } from 'node:child_process'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Target } from './cerbos.ts'
import { gateQuestion } from './payment.ts'
import { cpuMs, ROOT, run, start, temporaryFolder } from './processes.ts'

export const TENANT = 'bench'
export const COMMAND = join(ROOT, 'bin', 'gate-sidecar.js')
const POLICIES = fileURLToPath(new URL('./policies/', import.meta.url))

export interface GateTarget extends Target {
  /** API key of an agent of `tenant`. */
  key: string
  tenant: string
  process: ChildProcess
}

/**
 * Our server as users start it: the built program, the default durability, one agent key.
 *
 * @param viaExpress ask so that Express routes the request: the listener takes only the bare path itself
 */
export async function startGate(viaExpress: boolean): Promise<GateTarget> {
  const data = temporaryFolder('gate')
  const { key } = await createKey(data, 'agent')
  const server = await serve(data)
  const stop = async () => {
    await server.stop()
    const bytes = readdirSync(data).reduce((sum, name) => sum + statSync(join(data, name)).size, 0)
    rmSync(data, { recursive: true })
    return bytes
  }
  const asked = gateQuestion(key, TENANT)
  const question = viaExpress ? { ...asked, path: `${asked.path}?` } : asked
  const name = viaExpress ? 'gate (Express)' : 'gate-sidecar'
  const { process: child, found: url } = server
  return { name, url, question, key, tenant: TENANT, process: child, cpuMs: () => cpuMs(child), stop }
}

/** Makes a key with the command line. */
export async function createKey(
  data: string,
  role: string,
  tenant = TENANT,
  flags: readonly string[] = [],
): Promise<{ id: string; key: string }> {
  const args = ['keys', 'create', '--tenant', tenant, '--role', role, '--data', data, '--json', ...flags]
  return JSON.parse(await run(process.execPath, [COMMAND, ...args]))
}

interface ServeOptions {
  policies?: string
  flags?: readonly string[]
  /** Options of Node.js itself. */
  node?: readonly string[]
}

/** Starts the built service on a free port; `found` is its URL. */
export function serve(data: string, { policies = POLICIES, flags = [], node = [] }: ServeOptions = {}) {
  const args = ['serve', '--port', '0', '--data', data, '--policies', policies, ...flags]
  return start(process.execPath, [...node, COMMAND, ...args], listeningUrl)
}

function listeningUrl(line: string): string | undefined {
  if (!line.includes('"listening"')) return undefined
  const { msg, url } = JSON.parse(line) as { msg?: string; url?: string }
  return msg === 'listening' ? url : undefined
}
