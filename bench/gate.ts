import type { ChildProcess } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
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

/** Ways to run our server, with the names that tables give them. */
const NAMES = { plain: 'gate-sidecar', express: 'gate (Express)', shadow: 'gate (shadow)' } as const

/**
 * Our server as users start it: the built program, the default durability, one agent key.
 *
 * @param way `express`: ask so that Express routes the request, since the listener takes only the bare path itself;
 *   `shadow`: beside a set in shadow that holds more
 */
export async function startGate(way: keyof typeof NAMES = 'plain'): Promise<GateTarget> {
  const data = temporaryFolder('gate')
  const { key } = await createKey(data, 'agent')
  const server = await serve(data, way === 'shadow' ? { policies: withShadow() } : {})
  const stop = async () => {
    await server.stop()
    const bytes = readdirSync(data).reduce((sum, name) => sum + statSync(join(data, name)).size, 0)
    rmSync(data, { recursive: true })
    return bytes
  }
  const asked = gateQuestion(key, TENANT)
  const question = way === 'express' ? { ...asked, path: `${asked.path}?` } : asked
  const { process: child, found: url } = server
  return { name: NAMES[way], url, question, key, tenant: TENANT, process: child, cpuMs: () => cpuMs(child), stop }
}

/** The policies, and a copy of them in shadow that holds from a tenth of the amount. */
function withShadow(): string {
  const folder = temporaryFolder('policies')
  for (const name of [TENANT, `${TENANT}.shadow`])
    cpSync(join(POLICIES, TENANT), join(folder, name), { recursive: true })
  const path = join(folder, `${TENANT}.shadow`, 'main.yaml')
  writeFileSync(path, readFileSync(path, 'utf8').replace('value: 10000', 'value: 1000'))
  return folder
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
