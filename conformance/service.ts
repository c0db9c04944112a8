import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSidecar } from '../evaluation/sidecar.ts'
import { temporaryFolder } from '../examples/agent-calls/sidecar.ts'
import type { JsonObject } from '../src/base/json.ts'
import type { Decided } from './answers.ts'
import type { Ask, Loaded } from './compare.ts'
import { ACTION } from './policy-yaml.ts'

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
  const folder = temporaryFolder()
  const policies = join(folder.dir, 'policies')
  writePolicies(all, policies)
  // Few inputs are held: one agent of each tenant is enough.
  const calls = new Map(all.map(({ translation }) => [translation.tenant, 1]))
  const { url, keys, stop } = await startSidecar(folder, calls, policies)
  return {
    ask: ({ translation: { tenant } }, input) => check(url, tenant, keys.get(tenant)?.[0] ?? '', input),
    async stop() {
      await stop()
      folder.remove()
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
  if (!response.ok) throw new Error(`POST /gate/check answered ${response.status}: ${body.slice(0, 500)}`)
  return JSON.parse(body).data
}
