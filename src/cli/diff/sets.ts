import { existsSync, statSync } from 'node:fs'
import { storedSet, UNEXPLAINED } from '../../actions/policies/history.ts'
import { loadPolicySet } from '../../authoring/load/load.ts'
import { withRevision } from '../../files/git.ts'
import { tenantsIn } from '../../files/policies.ts'
import { readAsTenant, readTenantFolder } from '../../files/read-folders.ts'
import type { PolicySet } from '../../policies/set.ts'
import { CannotRun, type CommonOptions, UsageError } from '../context.ts'
import { withStore } from '../data-file.ts'
import { compileHere, policiesRoot, setOf } from '../tenant-folders.ts'

const GIT = 'git:'

interface SetOptions extends CommonOptions {
  tenant?: string
}

/**
 * The sets that a name stands for, by tenant: those of a folder, of that folder at a revision of Git (`git:main`), or one
 * that was in force, by its digest.
 *
 * @throws CannotRun for what is not there, or has faults; UsageError for a digest without a tenant
 */
export async function setsNamed(name: string, options: SetOptions): Promise<ReadonlyMap<string, PolicySet>> {
  const { tenant } = options
  if (!name.startsWith(GIT)) return name.startsWith('sha256:') ? recordedSet(name, options) : setsIn(name, tenant)
  try {
    return withRevision(name.slice(GIT.length), policiesRoot(options), (folder) => setsIn(folder, tenant))
  } catch (error) {
    if (error instanceof CannotRun || !(error instanceof Error)) throw error
    throw new CannotRun(`${name} cannot be read: ${error.message.split('\n')[0]}.`)
  }
}

async function recordedSet(digest: string, options: SetOptions): Promise<ReadonlyMap<string, PolicySet>> {
  const { tenant } = options
  if (tenant === undefined) throw new UsageError('A digest names a set of one tenant; name the tenant with --tenant.')
  const found = await withStore(options, ({ store }) => storedSet({ store, compile: compileHere }, tenant, digest))
  if ('set' in found) return new Map([[tenant, found.set]])
  const list = `\`gate-sidecar policies history --tenant ${tenant}\``
  throw new CannotRun(`${digest} cannot be compared: ${UNEXPLAINED[found.code]}. ${list} lists the sets.`)
}

/** The sets of a folder of tenants; of a folder of one tenant, or a file, its own. */
function setsIn(path: string, tenant: string | undefined): ReadonlyMap<string, PolicySet> {
  if (!existsSync(path)) throw new CannotRun(`There is no folder ${path}.`)
  const isFolder = statSync(path).isDirectory()
  const tenants = isFolder ? tenantsIn(path).filter((one) => tenant === undefined || one === tenant) : []
  if (tenants.length > 0) return new Map(tenants.map((one) => [one, setOf(readTenantFolder(path, one))]))
  const own = tenant ?? tenantIn(path)
  if (own === undefined)
    throw new CannotRun(`${path} has no policies; name a folder of tenants, or one of a tenant with --tenant.`)
  return new Map([[own, setOf(readAsTenant(path, own))]])
}

/** The tenant that the files of a folder name. */
function tenantIn(path: string): string | undefined {
  const { source } = readAsTenant(path, 'tenant')
  if ('problem' in source) return undefined
  const [name] = source.files.flatMap(
    ({ bytes }) => /^tenant: *([A-Za-z0-9_-]+)/m.exec(Buffer.from(bytes).toString())?.[1] ?? [],
  )
  return name !== undefined && loadPolicySet({ ...source, tenant: name }).set !== undefined ? name : undefined
}
