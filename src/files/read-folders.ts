import type { TenantFolder } from '../authoring/load/files.ts'
import { listFilesOf } from '../authoring/load/read-files.ts'
import { readFiles, tenantsIn, withLists } from './policies.ts'

/** The tenants that have a folder under `root`; see strayNames for the rest. */
export function readPolicyFolders(root: string): TenantFolder[] {
  return tenantsIn(root).map((tenant) => readTenantFolder(root, tenant))
}

/** Reads through symbolic links, as a Kubernetes ConfigMap mounts its files. */
export function readTenantFolder(root: string, tenant: string): TenantFolder {
  const files = readFiles(root, tenant)
  return 'source' in files ? files : withLists(root, files, listFilesOf(files.files))
}
