import { closeSync, existsSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, sep } from 'node:path'
import { digestOf } from '../base/digest.ts'
import { isTenantId } from '../keys/tenant.ts'
import { isPolicyFile, isTestFile } from '../policy/files.ts'
import { LIMITS } from '../policy/limits.ts'
import { listFilesOf, type PolicySource } from '../policy/load.ts'

/** What stands in a policies folder: each tenant's files, or why they cannot be read. */
export interface TenantFolder {
  tenant: string
  /** Changes when any byte that the set is made of changes, however the file came there. */
  fingerprint: string
  source: PolicySource | { problem: string }
}

type Files = PolicySource['files']
type ListPaths = (tenant: string, files: Files, digest: string) => readonly string[]

/** For one look: what the policies say is read each time. */
const parsed: ListPaths = (_, files) => listFilesOf(files)

/** The tenants that have a folder under `root`; see strayNames for the rest. */
export function readPolicyFolders(root: string): TenantFolder[] {
  return foldersOf(root, parsed)
}

/**
 * Reads the folders again and again. Bytes are read and hashed each time, since a time or a size may stay as it
 * was; they are parsed, which may take a second, only when they differ from the time before.
 */
export function policyFolderReader(root: string): () => TenantFolder[] {
  const known = new Map<string, { digest: string; paths: readonly string[] }>()
  const remembered: ListPaths = (tenant, files, digest) => {
    const earlier = known.get(tenant)
    if (earlier?.digest === digest) return earlier.paths
    const paths = listFilesOf(files)
    known.set(tenant, { digest, paths })
    return paths
  }
  return () => foldersOf(root, remembered)
}

function foldersOf(root: string, listPaths: ListPaths): TenantFolder[] {
  return namesIn(root)
    .filter((name) => isTenantId(name) && isFolder(root, name) !== false)
    .map((tenant) => readFolder(root, tenant, listPaths))
}

/** What lies beside the tenants' folders and is not read: a file, or a folder whose name cannot be a tenant's. */
export function strayNames(root: string): string[] {
  return namesIn(root).filter(
    // Hidden names are those of tools, such as the ..data of a ConfigMap.
    (name) => !name.startsWith('.') && (!isTenantId(name) || isFolder(root, name) === false),
  )
}

function namesIn(root: string): string[] {
  return existsSync(root) ? readdirSync(root).sort() : []
}

/** Undefined when that cannot be told, such as for a link that leads to itself: this tenant's fault alone. */
function isFolder(root: string, name: string): boolean | undefined {
  try {
    return statSync(join(root, name), { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch (error) {
    if (!isFileError(error)) throw error
    return undefined
  }
}

/** Reads through symbolic links, as a Kubernetes ConfigMap mounts its files. */
export function readTenantFolder(root: string, tenant: string): TenantFolder {
  return readFolder(root, tenant, parsed)
}

function readFolder(root: string, tenant: string, listPaths: ListPaths): TenantFolder {
  try {
    return readSource(join(root, tenant), tenant, listPaths)
  } catch (error) {
    if (!isFileError(error)) throw error
    return { tenant, fingerprint: `unreadable ${error.code}`, source: { problem: `cannot be read (${error.code})` } }
  }
}

function readSource(folder: string, tenant: string, listPaths: ListPaths): TenantFolder {
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'))
  const isRead = (name: string): boolean =>
    (isPolicyFile(name) || isTestFile(name)) && statSync(join(folder, name)).isFile()
  const files = names.filter(isRead).map((name) => ({ name, bytes: readAtMost(join(folder, name), LIMITS.fileBytes) }))
  const filesDigest = digestOf(JSON.stringify(files.map(({ name, bytes }) => [name, digestOf(bytes)])))
  const paths = listPaths(tenant, files, filesDigest)
  const lists = new Map(paths.map((path) => [path, readList(folder, path)] as const))
  const ignored = names.filter((name) => name !== 'lists' && !isRead(name))
  const fingerprint = digestOf(JSON.stringify([filesDigest, digestsOf(lists), ignored]))
  return { tenant, fingerprint, source: { tenant, files, lists, ignored } }
}

/** Bytes read at once. */
const CHUNK = 65_536

/** The file's bytes, and no more than one beyond the limit, by which the loader knows that it is too large. */
function readAtMost(path: string, limit: number): Uint8Array {
  const file = openSync(path, 'r')
  try {
    const chunks: Buffer[] = []
    let left = limit + 1
    while (left > 0) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK, left))
      const length = readSync(file, chunk)
      if (length === 0) break
      chunks.push(chunk.subarray(0, length))
      left -= length
    }
    return Buffer.concat(chunks)
  } finally {
    closeSync(file)
  }
}

/** A list is read only when its real path lies in the real path of the tenant's folder. */
function readList(folder: string, path: string): Uint8Array | { problem: string } {
  if (isAbsolute(path)) return { problem: 'is not relative to the tenant folder' }
  try {
    const real = realpathSync(join(folder, path))
    if (!real.startsWith(realpathSync(folder) + sep)) return { problem: 'lies outside the tenant folder' }
    if (!statSync(real).isFile()) return { problem: 'is not a file' }
    const bytes = readAtMost(real, LIMITS.listBytes)
    return bytes.byteLength > LIMITS.listBytes ? { problem: `has more than ${LIMITS.listBytes} bytes` } : bytes
  } catch (error) {
    if (!isFileError(error)) throw error
    return { problem: error.code === 'ENOENT' ? 'does not exist' : `cannot be read (${error.code})` }
  }
}

function digestsOf(lists: PolicySource['lists']): string[][] {
  return Array.from(lists, ([path, content]) => [
    path,
    content instanceof Uint8Array ? digestOf(content) : content.problem,
  ])
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error
}
