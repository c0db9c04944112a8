import { existsSync } from 'node:fs'
import type { PolicySource, TenantFolder } from '../authoring/load/files.ts'
import { closest } from '../authoring/suggest/closest.ts'
import { tenantsIn } from '../files/policies.ts'
import { CannotRun } from './context.ts'

/** @throws CannotRun when there is no folder of policies */
export function requireFolder(root: string): void {
  if (!existsSync(root)) throw new CannotRun(`There is no folder ${root}; name another with --policies.`)
}

/**
 * The one of the tenant among what was read in `root`; all, when no tenant is given.
 *
 * @throws CannotRun when that is none
 */
export function wantedFolders(read: readonly TenantFolder[], root: string, tenant?: string): readonly TenantFolder[] {
  requireFolder(root)
  const wanted = read.filter((folder) => tenant === undefined || folder.tenant === tenant)
  if (wanted.length > 0) return wanted
  if (tenant !== undefined) throw noFolderOf(tenant, root)
  throw new CannotRun(`${root} holds no tenant's folder; --policies names the folder above those of the tenants.`)
}

/** What to say where a tenant has no folder of policies, with the one that was perhaps meant. */
export function noFolderOf(tenant: string, root: string): CannotRun {
  const meant = closest(tenant, tenantsIn(root))
  const advice =
    meant === undefined
      ? 'name another with --tenant or --policies, or make one with `gate-sidecar init`.'
      : `did you mean ${meant}?`
  return new CannotRun(`There is no folder of ${tenant} in ${root}; ${advice}`)
}

/** @throws CannotRun when the folder could not be read */
export function sourceOf({ tenant, source }: TenantFolder): PolicySource {
  if ('problem' in source) throw new CannotRun(`The folder of ${tenant} ${source.problem}.`)
  return source
}
