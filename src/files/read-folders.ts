import { realpathSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { isTestFile, type TenantFolder } from '../authoring/load/files.ts'
import { listFilesOf } from '../authoring/load/read-files.ts'
import { readFiles, type TenantFiles, tenantsIn, withLists } from './policies.ts'

/** The tenants that have a folder under `root`; see strayNames for the rest. */
export function readPolicyFolders(root: string): TenantFolder[] {
  return tenantsIn(root).map((tenant) => readTenantFolder(root, tenant))
}

/** Reads through symbolic links, as a Kubernetes ConfigMap mounts its files. */
export function readTenantFolder(root: string, tenant: string): TenantFolder {
  const files = readFiles(root, tenant)
  return 'source' in files ? files : withLists(root, files, listFilesOf(files.files))
}

/** A folder as the policies of a tenant, whatever its name; or one file, with the tests and lists of its folder. */
export function readAsTenant(path: string, tenant: string): TenantFolder {
  const real = realpathSync(path)
  const isFile = statSync(real).isFile()
  const folder = isFile ? dirname(real) : real
  const all = readFiles(dirname(folder), basename(folder))
  const wanted = 'source' in all || !isFile ? all : withoutOthers(all, basename(real))
  const { fingerprint, source } =
    'source' in wanted ? wanted : withLists(dirname(folder), wanted, listFilesOf(wanted.files))
  return { tenant, fingerprint, source: 'problem' in source ? source : { ...source, tenant } }
}

function withoutOthers(all: TenantFiles, file: string): TenantFiles {
  const files = all.files.filter(({ name }) => name === file || isTestFile(name))
  return { ...all, files, outside: [], ignored: [] }
}
