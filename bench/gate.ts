import type { ChildProcess } from 'node:child_process'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Target } from './cerbos.ts'
import { gateQuestion } from './payment.ts'
import { cpuMs, ROOT, run, start, temporaryFolder } from './processes.ts'

const TENANT = 'bench'
export const COMMAND = join(ROOT, 'bin', 'gate-sidecar.js')
export const POLICIES = fileURLToPath(new URL('./policies/', import.meta.url))

export interface GateTarget extends Target {
  /** Of an agent of `tenant`. */
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
  const created = await run(process.execPath, [
    ...[COMMAND, 'keys', 'create', '--tenant', TENANT, '--role', 'agent'],
    ...['--data', data, '--json'],
  ])
  const { key } = JSON.parse(created) as { key: string }
  const server = await start(
    process.execPath,
    [COMMAND, 'serve', '--port', '0', '--data', data, '--policies', POLICIES],
    listeningUrl,
  )
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

export function listeningUrl(line: string): string | undefined {
  if (!line.includes('"listening"')) return undefined
  const { msg, url } = JSON.parse(line) as { msg?: string; url?: string }
  return msg === 'listening' ? url : undefined
}
