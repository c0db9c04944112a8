import { closeSync, existsSync, openSync, readdirSync, readlinkSync, readSync, realpathSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import {
  insidePath,
  isPolicyFile,
  isTestFile,
  type ListProblem,
  MISSING,
  type PolicySource,
  type TenantFolder,
} from '../authoring/load/files.ts'
import { LIMITS } from '../authoring/load/limits.ts'
import { digestOf } from '../base/digest.ts'
import { once } from '../base/memo.ts'
import { isTenantId } from '../keys/tenant.ts'

/** Names of folders under `root` that are valid tenant ids. */
export function tenantsIn(root: string): string[] {
  return namesIn(root).filter((name) => isTenantId(name) && isFolder(root, name) !== false)
}

/** Names under `root` that are not read: files, and folders whose name is no tenant id. */
export function strayNames(root: string): string[] {
  return namesIn(root).filter(
    // Hidden names belong to tools, such as the ..data of a ConfigMap.
    (name) => !name.startsWith('.') && (!isTenantId(name) || isFolder(root, name) === false),
  )
}

function namesIn(root: string): string[] {
  return existsSync(root) ? readdirSync(root).sort() : []
}

/** Undefined when the kind is unknown, as for a link that leads to itself: a fault of this tenant alone. */
function isFolder(root: string, name: string): boolean | undefined {
  try {
    return statSync(join(root, name), { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch (error) {
    if (!isFileError(error)) throw error
    return undefined
  }
}

/** A tenant's folder without the lists that its policies name. */
export interface TenantFiles {
  tenant: string
  files: PolicySource['files']
  ignored: string[]
  /** Digest of the files' names and bytes. */
  digest: string
  /** Target of the link that a ConfigMap swaps; undefined without such a link. */
  version: string | undefined
}

/** Reads the folder's files; returns the problem when they cannot be read. */
export function readFiles(root: string, tenant: string): TenantFiles | TenantFolder {
  return unlessUnreadable(root, tenant, () => {
    const folder = join(root, tenant)
    const version = versionOf(folder)
    const names = readdirSync(folder).filter((name) => !name.startsWith('.'))
    const isRead = (name: string): boolean =>
      (isPolicyFile(name) || isTestFile(name)) && statSync(join(folder, name)).isFile()
    const budget = byteBudget()
    const files = names.filter(isRead).map((name) => {
      const bytes = readAtMost(join(folder, name), LIMITS.fileBytes)
      budget.take(bytes)
      return { name, bytes }
    })
    const digest = digestOf(JSON.stringify(files.map(({ name, bytes }) => [name, digestOf(bytes)])))
    return { tenant, files, digest, version, ignored: names.filter((name) => name !== 'lists' && !isRead(name)) }
  })
}

/** Adds the lists at these paths. */
export function withLists(
  root: string,
  { tenant, files, digest, version, ignored }: TenantFiles,
  paths: readonly string[],
): TenantFolder {
  return unlessUnreadable(root, tenant, () => {
    const folder = join(root, tenant)
    const budget = byteBudget()
    for (const { bytes } of files) budget.take(bytes)
    const lists = new Map<string, Uint8Array | ListProblem>()
    const present = once(() => otherFiles(folder, ignored))
    for (const path of paths) {
      const content = readList(folder, path, present)
      if (content instanceof Uint8Array) budget.take(content)
      lists.set(path, content)
    }
    if (versionOf(folder) !== version) return exchanged(tenant)
    // Keys of a ConfigMap have no folders, so a list may lie beside the policies.
    const named = new Set(paths.map((path) => insidePath(path)?.split('/')[0]))
    const unnamed = ignored.filter((name) => !named.has(name))
    const fingerprint = digestOf(JSON.stringify([digest, digestsOf(lists), unnamed]))
    return { tenant, fingerprint, source: { tenant, files, lists, ignored: unnamed } }
  })
}

/** Link through which all files of a ConfigMap lead; each change points it to another folder. */
const VERSION_LINK = '..data'

function versionOf(folder: string): string | undefined {
  try {
    return readlinkSync(join(folder, VERSION_LINK))
  } catch (error) {
    if (!isFileError(error)) throw error
    return undefined
  }
}

/** Reading that mixes two versions. Its fingerprint equals no other, so it never counts as settled. */
function exchanged(tenant: string): TenantFolder {
  const fingerprint = `exchanged ${performance.now()}`
  return { tenant, fingerprint, source: { problem: 'was exchanged while it was read; try again' } }
}

/** The bytes of one folder, which are all in memory at once, exceed their limit. */
class TooLarge extends Error {}

function byteBudget() {
  let left: number = LIMITS.setBytes
  return {
    /** @throws TooLarge */
    take(bytes: Uint8Array): void {
      left -= bytes.byteLength
      if (left < 0) throw new TooLarge()
    },
  }
}

function unlessUnreadable<T>(root: string, tenant: string, read: () => T): T | TenantFolder {
  try {
    return read()
  } catch (error) {
    if (error instanceof TooLarge) {
      const problem = `holds more than ${LIMITS.setBytes} bytes of policies and lists`
      return { tenant, fingerprint: 'too large', source: { problem } }
    }
    if (!isFileError(error)) throw error
    return unreadable(tenant, relative(join(root, tenant), error.path ?? ''), error.code ?? '')
  }
}

/** @param name path that cannot be read, relative to the folder; empty for the folder itself */
function unreadable(tenant: string, name: string, code: string): TenantFolder {
  if (name === '' && code === 'ENOENT') return missingFolder(tenant)
  const itself = code === 'ENOTDIR' ? 'is a file, not a folder' : `cannot be read (${code})`
  const problem = name === '' ? itself : `holds ${JSON.stringify(name)}, which cannot be read (${code})`
  return { tenant, fingerprint: `unreadable ${name} ${code}`, source: { problem } }
}

export function missingFolder(tenant: string): TenantFolder {
  return { tenant, fingerprint: MISSING, source: { problem: 'does not exist' } }
}

/** Bytes of one read. */
const CHUNK = 65_536

/** Reads the file up to one byte beyond the limit, which tells the caller that it is too large. */
export function readAtMost(path: string, limit: number): Uint8Array {
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

/** Reads a list only when its real path lies inside the real path of the tenant's folder. */
function readList(folder: string, path: string, present: () => readonly string[]): Uint8Array | ListProblem {
  if (insidePath(path) === undefined) return { problem: 'is not in the tenant folder', present: present() }
  try {
    const real = realpathSync(join(folder, path))
    const within = realpathSync(folder)
    if (!isInside(real, within)) return { problem: 'lies outside the tenant folder' }
    if (!statSync(real).isFile()) return { problem: 'is not a file' }
    const bytes = readAtMost(real, LIMITS.listBytes)
    return bytes.byteLength > LIMITS.listBytes ? { problem: `has more than ${LIMITS.listBytes} bytes` } : bytes
  } catch (error) {
    if (!isFileError(error)) throw error
    if (error.code !== 'ENOENT') return { problem: `cannot be read (${error.code})` }
    return { problem: 'does not exist', present: present() }
  }
}

function isInside(real: string, within: string): boolean {
  return real === within || real.startsWith(within + sep)
}

/** Limit of the files listed as candidates for a misspelt path. */
const MAX_PRESENT = 1000

/** Relative paths of files in the folder and its direct subfolders that are neither policies nor tests. */
function otherFiles(folder: string, ignored: readonly string[]): string[] {
  const names = new Set(['lists', ...ignored])
  const beside = filesIn(folder).filter((name) => names.has(name))
  const below = [...names].flatMap((name) => filesIn(join(folder, name), folder).map((file) => `${name}/${file}`))
  return [...beside, ...below].slice(0, MAX_PRESENT)
}

/**
 * Names of the files directly in a folder. Empty when it is no folder, leads out of the tenant's, or cannot be read.
 */
function filesIn(folder: string, within = folder): string[] {
  try {
    if (!isInside(realpathSync(folder), realpathSync(within))) return []
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.flatMap((entry) => (entry.isDirectory() || entry.name.startsWith('.') ? [] : [entry.name])).sort()
  } catch (error) {
    if (!isFileError(error)) throw error
    return []
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
