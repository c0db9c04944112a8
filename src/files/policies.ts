import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, sep } from 'node:path'
import { digestOf } from '../base/digest.ts'
import { isTenantId } from '../keys/tenant.ts'
import { isPolicyFile, isTestFile } from '../policy/files.ts'
import { listFilesOf, type PolicySource } from '../policy/load.ts'

/** What stands in a policies folder: each tenant's files, or why they cannot be read. */
export interface TenantFolder {
  tenant: string
  /** Changes when any byte that the set is made of changes, however the file came there. */
  fingerprint: string
  source: PolicySource | { problem: string }
}

/** The tenants that have a folder under `root`; a folder whose name cannot be a tenant's is left out. */
export function readPolicyFolders(root: string): TenantFolder[] {
  if (!existsSync(root)) return []
  return readdirSync(root)
    .filter((name) => isTenantId(name) && statSync(join(root, name), { throwIfNoEntry: false })?.isDirectory())
    .sort()
    .map((tenant) => readTenantFolder(root, tenant))
}

/** Reads through symbolic links, as a Kubernetes ConfigMap mounts its files. */
export function readTenantFolder(root: string, tenant: string): TenantFolder {
  try {
    const source = readSource(join(root, tenant), tenant)
    return { tenant, fingerprint: fingerprintOf(source), source }
  } catch (error) {
    if (!isFileError(error)) throw error
    return { tenant, fingerprint: `unreadable ${error.code}`, source: { problem: `cannot be read (${error.code})` } }
  }
}

function readSource(folder: string, tenant: string): PolicySource {
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'))
  const isRead = (name: string): boolean =>
    (isPolicyFile(name) || isTestFile(name)) && statSync(join(folder, name)).isFile()
  const files = names.filter(isRead).map((name) => ({ name, bytes: readFileSync(join(folder, name)) }))
  const lists = new Map(listFilesOf(files).map((path) => [path, readList(folder, path)] as const))
  const ignored = names.filter((name) => name !== 'lists' && !isRead(name))
  return { tenant, files, lists, ignored }
}

/** A list is read only when its real path lies in the real path of the tenant's folder. */
function readList(folder: string, path: string): Uint8Array | { problem: string } {
  if (isAbsolute(path)) return { problem: 'is not relative to the tenant folder' }
  try {
    const real = realpathSync(join(folder, path))
    if (!real.startsWith(realpathSync(folder) + sep)) return { problem: 'lies outside the tenant folder' }
    return statSync(real).isFile() ? readFileSync(real) : { problem: 'is not a file' }
  } catch (error) {
    if (!isFileError(error)) throw error
    return { problem: error.code === 'ENOENT' ? 'does not exist' : `cannot be read (${error.code})` }
  }
}

function fingerprintOf({ files, lists, ignored }: PolicySource): string {
  const digest = (content: Uint8Array | { problem: string }): string =>
    content instanceof Uint8Array ? digestOf(content) : content.problem
  return digestOf(
    JSON.stringify([
      files.map(({ name, bytes }) => [name, digestOf(bytes)]),
      [...lists].map(([path, content]) => [path, digest(content)]),
      ignored,
    ]),
  )
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error
}
