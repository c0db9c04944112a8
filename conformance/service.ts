import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listeningUrl } from '../bench/gate.ts'
import { ROOT, run, start } from '../bench/processes.ts'
import type { JsonObject } from '../src/base/json.ts'
import type { Decided } from './answers.ts'
import type { Ask, Loaded } from './compare.ts'
import { ACTION } from './policy-yaml.ts'

const COMMAND = join(ROOT, 'bin', 'gate-sidecar.js')

export interface Service {
  readonly ask: Ask
  stop(): Promise<void>
}

/** Writes each policy into the folder of its tenant. */
export function writePolicies(all: readonly Loaded[], folder: string): void {
  for (const { translation, yaml } of all) {
    mkdirSync(join(folder, translation.tenant), { recursive: true })
    writeFileSync(join(folder, translation.tenant, 'main.yaml'), yaml)
  }
}

/** The built program, as users start it, on the translated policies, with an agent's key for each tenant. */
export async function startService(all: readonly Loaded[]): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-sidecar-conformance-'))
  const [data, policies] = [join(folder, 'data'), join(folder, 'policies')]
  writePolicies(all, policies)
  const keys = new Map<string, string>()
  for (const { translation } of all) {
    const args = ['keys', 'create', '--tenant', translation.tenant, '--role', 'agent', '--data', data, '--json']
    keys.set(translation.tenant, JSON.parse(await run(process.execPath, [COMMAND, ...args])).key)
  }
  const server = await start(
    process.execPath,
    [COMMAND, 'serve', '--port', '0', '--data', data, '--policies', policies],
    listeningUrl,
  )
  return {
    ask: ({ translation: { tenant } }, input) => check(server.found, tenant, keys.get(tenant) ?? '', input),
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

async function check(url: string, tenant: string, key: string, context: JsonObject): Promise<Decided> {
  const response = await fetch(`${url}/gate/check`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'x-tenant-id': tenant, 'content-type': 'application/json' },
    body: JSON.stringify({ tenantId: tenant, action: ACTION, context }),
  })
  const body = await response.text()
  if (response.status === 429) {
    const seconds = Number(response.headers.get('retry-after') ?? 1)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    return check(url, tenant, key, context)
  }
  if (!response.ok) throw new Error(`POST /gate/check answered ${response.status}: ${body.slice(0, 500)}`)
  return JSON.parse(body).data
}
