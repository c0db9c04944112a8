import { realpathSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { isTestFile, type TenantFolder } from '../authoring/load/files.ts'
import { listFilesOf } from '../authoring/load/read-files.ts'
import { ofTenant, readFiles, SHADOW, type TenantFiles, tenantsIn, withLists } from './policies.ts'

/** The folders of tenants under `root`, and of their sets in shadow; see strayNames for the rest. */
export function readPolicyFolders(root: string): TenantFolder[] {
  const inShadow = tenantsIn(root, SHADOW).map((tenant) => readTenantFolder(root, tenant, SHADOW))
  return [...tenantsIn(root).map((tenant) => readTenantFolder(root, tenant)), ...inShadow]
}

/** Reads through symbolic links, as a Kubernetes ConfigMap mounts its files. */
export function readTenantFolder(root: string, tenant: string, ending: '' | typeof SHADOW = ''): TenantFolder {
  const files = readFiles(root, `${tenant}${ending}`)
  return ofTenant('source' in files ? files : withLists(root, files, listFilesOf(files.files)), tenant)
}

/** A folder as the policies of a tenant, whatever its name; or one file, with the tests and lists of its folder. */
export function readAsTenant(path: string, tenant: string): TenantFolder {
  const real = realpathSync(path)
  const isFile = statSync(real).isFile()
  const folder = isFile ? dirname(real) : real
  const all = readFiles(dirname(folder), basename(folder))
  const wanted = 'source' in all || !isFile ? all : withoutOthers(all, basename(real))
  const read = 'source' in wanted ? wanted : withLists(dirname(folder), wanted, listFilesOf(wanted.files))
  return ofTenant(read, tenant)
}

function withoutOthers(all: TenantFiles, file: string): TenantFiles {
  const files = all.files.filter(({ name }) => name === file || isTestFile(name))
  return { ...all, files, outside: [], ignored: [] }
}
