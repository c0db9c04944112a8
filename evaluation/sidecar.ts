import { type Folder, listening, run } from '../examples/agent-calls/sidecar.ts'
import { loadPolicySet } from '../src/authoring/load/load.ts'
import { CannotRun } from '../src/cli/context.ts'
import { readPolicyFolders } from '../src/files/read-folders.ts'
import { DEFAULT_PLAN, PENDING_LIMITS } from '../src/keys/plan.ts'
import type { PolicySet } from '../src/policies/set.ts'

/** Keys of agents, by tenant. */
export type AgentKeys = ReadonlyMap<string, readonly string[]>

export interface Sidecar {
  url: string
  keys: AgentKeys
  /** Ends the service as an operator would. */
  stop(): Promise<void>
}

/**
 * The policies that are to be in force, by tenant. A sidecar would deny everything to a tenant without them, which would look
 * like the best of all policies.
 *
 * @throws CannotRun when a tenant has none, or ones that do not load
 */
export function policiesOf(tenants: readonly string[], root: string): Map<string, PolicySet> {
  const folders = new Map(readPolicyFolders(root).map(({ tenant, source }) => [tenant, source]))
  return new Map(
    tenants.map((tenant) => {
      const source = folders.get(tenant)
      if (source === undefined) throw new CannotRun(`${root} has no policies for the tenant ${tenant}.`)
      const set = 'problem' in source ? undefined : loadPolicySet(source).set
      if (set !== undefined) return [tenant, set]
      throw new CannotRun(
        `The policies of ${tenant} do not load; \`gate-sidecar validate --policies ${root}\` says why.`,
      )
    }),
  )
}

/**
 * Starts the built program on a free port of this machine, with its data in the folder.
 *
 * @param calls number of calls that are asked about, by tenant
 */
export async function startSidecar(
  folder: Folder,
  calls: ReadonlyMap<string, number>,
  policies: string,
): Promise<Sidecar> {
  const { code, stdout } = await run(folder, ['keys', 'create', '--role', 'admin', '--json'])
  if (code !== 0) throw new CannotRun('No key could be made.')
  const { key }: { key: string } = JSON.parse(stdout)
  for (const tenant of calls.keys()) {
    if ((await run(folder, ['tenants', 'create', tenant])).code !== 0)
      throw new CannotRun(`The tenant ${tenant} could not be made.`)
  }
  const server = folder.start(['serve', '--port', '0', '--policies', policies])
  const ended = new Promise<number | null>((resolve) => server.once('exit', resolve))
  const url = await listening(server, ended)
  return {
    url,
    keys: await agentKeys(url, key, calls),
    async stop() {
      server.kill('SIGTERM')
      await ended
    },
  }
}

/**
 * Makes as many agents for each tenant as its calls need: if all calls are held, none of its agents has more pending
 * than it may.
 *
 * @param admin key that may make keys for every tenant
 * @param calls number of calls, by tenant
 */
export async function agentKeys(url: string, admin: string, calls: ReadonlyMap<string, number>): Promise<AgentKeys> {
  const keys = new Map<string, string[]>()
  for (const [tenant, count] of calls) {
    const agents = Array.from({ length: Math.ceil(count / PENDING_LIMITS[DEFAULT_PLAN]) }, async () => {
      const response = await fetch(`${url}/keys`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': admin, 'x-tenant-id': tenant },
        body: JSON.stringify({ roles: ['agent'] }),
      })
      const { data }: { data?: { key: string } } = JSON.parse(await response.text())
      if (data === undefined) throw new CannotRun(`No key could be made for the tenant ${tenant}: ${response.status}.`)
      return data.key
    })
    keys.set(tenant, await Promise.all(agents))
  }
  return keys
}
