import { type Folder, listening, run } from '../examples/agent-calls/sidecar.ts'
import { loadPolicySet } from '../src/authoring/load/load.ts'
import { CannotRun } from '../src/cli/context.ts'
import { readPolicyFolders } from '../src/files/read-folders.ts'
import type { PolicySet } from '../src/policies/set.ts'

export interface Sidecar {
  url: string
  /** An agent's key of each tenant. */
  keys: ReadonlyMap<string, string>
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

/** Starts the built program on a free port of this machine, with its data in the folder. */
export async function startSidecar(folder: Folder, tenants: readonly string[], policies: string): Promise<Sidecar> {
  const keys = new Map<string, string>()
  for (const tenant of tenants) keys.set(tenant, await makeKey(folder, tenant))
  const server = folder.start(['serve', '--port', '0', '--policies', policies])
  const ended = new Promise<number | null>((resolve) => server.once('exit', resolve))
  const url = await listening(server, ended)
  return {
    url,
    keys,
    async stop() {
      server.kill('SIGTERM')
      await ended
    },
  }
}

async function makeKey(folder: Folder, tenant: string): Promise<string> {
  const { code, stdout } = await run(folder, ['keys', 'create', '--tenant', tenant, '--role', 'agent', '--json'])
  if (code !== 0) throw new CannotRun(`No key could be made for the tenant ${tenant}.`)
  const { key }: { key: string } = JSON.parse(stdout)
  return key
}
