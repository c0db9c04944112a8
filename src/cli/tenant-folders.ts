import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Deps } from '../actions/deps.ts'
import { storedInForce } from '../actions/policies/stored.ts'
import { DIAGNOSTICS, type Diagnostic } from '../authoring/diagnostics/diagnostics.ts'
import { formatDiagnostic } from '../authoring/diagnostics/text.ts'
import type { Bounded, PolicySource, TenantFolder } from '../authoring/load/files.ts'
import { type CompiledPolicies, compilePolicySet, loadPolicySet } from '../authoring/load/load.ts'
import { closest } from '../authoring/suggest/closest.ts'
import { tenantsIn } from '../files/policies.ts'
import { readTenantFolder } from '../files/read-folders.ts'
import type { PolicySet } from '../policies/set.ts'
import type { Config } from '../service/config.ts'
import { policiesFolder } from '../service/paths.ts'
import { CannotRun, type CommonOptions, configOf, UsageError } from './context.ts'

/** @throws CannotRun when the folder of policies does not exist */
export function requireFolder(root: string): void {
  if (!existsSync(root)) {
    const advice = 'create one with `gate-sidecar init`, or name another with --policies.'
    throw new CannotRun(`There is no folder ${root}; ${advice}`)
  }
}

/**
 * The tenant's folder among those read in `root`; all of them without a tenant.
 *
 * @throws CannotRun when none matches
 */
export function wantedFolders(read: readonly TenantFolder[], root: string, tenant?: string): readonly TenantFolder[] {
  requireFolder(root)
  const matching = read.filter((folder) => tenant === undefined || folder.tenant === tenant)
  if (matching.length > 0) return matching
  if (tenant !== undefined) throw noFolderOf(tenant, root)
  throw new CannotRun(`${root} has no tenant folder; --policies names the folder that contains the tenant folders.`)
}

/** The error for a tenant without a folder of policies, with the closest existing name. */
export function noFolderOf(tenant: string, root: string): CannotRun {
  const closestName = closest(tenant, tenantsIn(root))
  const advice =
    closestName === undefined
      ? 'name another with --tenant or --policies, or create one with `gate-sidecar init`.'
      : `did you mean ${closestName}?`
  return new CannotRun(`There is no policy folder of ${tenant} in ${root}; ${advice}`)
}

/** Folder of the policies, for a command that reads files. @throws UsageError when they come from the store */
export function policiesRoot(options: CommonOptions): string {
  const folder = policiesFolder(configOf(options))
  if (folder !== undefined) return folder
  throw new UsageError('This command reads files, and the setting policies is store:; name a folder with --policies.')
}

/** Compiles where it is called: nobody else waits for a command. */
export async function compileHere(source: PolicySource): Promise<Bounded<CompiledPolicies>> {
  return { value: compilePolicySet(source) }
}

/** The policies of a tenant by the settings; undefined when there are none that can be used. */
export async function setBySettings({ store }: Deps, config: Config, tenant: string): Promise<PolicySet | undefined> {
  const folder = policiesFolder(config)
  if (folder !== undefined) return setInFolder(folder, tenant)
  const record = store.state().policies.get(tenant)
  return record && (await storedInForce({ store, compile: compileHere }, record)).set
}

/** The valid policies of a tenant; undefined when there are none. */
export function setInFolder(root: string, tenant: string): PolicySet | undefined {
  const { source } = readTenantFolder(root, tenant)
  return 'problem' in source ? undefined : loadPolicySet(source).set
}

/** The policies of a tenant. @throws CannotRun when there are none, or they have faults */
export function validSet(root: string, tenant: string): PolicySet {
  if (!existsSync(join(root, tenant))) throw noFolderOf(tenant, root)
  return setOf(readTenantFolder(root, tenant))
}

/** The set of a folder. @throws CannotRun when it cannot be read, or has faults */
export function setOf(folder: TenantFolder): PolicySet {
  const { set, diagnostics } = loadPolicySet(sourceOf(folder))
  if (set !== undefined) return set
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  throw new CannotRun(
    `The policies of ${folder.tenant} have faults:\n${errors.map((fault) => formatDiagnostic(fault, undefined)).join('\n')}`,
  )
}

/** @throws CannotRun when the folder is unreadable */
function sourceOf({ tenant, source }: TenantFolder): PolicySource {
  if ('problem' in source) throw new CannotRun(`The folder of ${tenant} ${source.problem}.`)
  return source
}

/** The findings in a folder; if it is unreadable, one error, so that the other folders are still reported. */
export async function findingsIn(
  { tenant, source }: TenantFolder,
  find: (source: PolicySource) => readonly Diagnostic[] | Promise<readonly Diagnostic[]>,
): Promise<readonly Diagnostic[]> {
  if (!('problem' in source)) return find(source)
  const code = 'GATE1023'
  const message = `The folder ${source.problem}, so nothing of it is read.`
  const { severity } = DIAGNOSTICS[code]
  return [{ file: `${tenant}/`, line: 1, column: 1, severity, code, message, path: '', suggestion: null }]
}
