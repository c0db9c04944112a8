import { existsSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
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
import { isBelow, readInside } from './inside.ts'

/** Ending of the name of a folder with a tenant's set in shadow; no id of a tenant has a dot. */
export const SHADOW = '.shadow'

/** Tenants that have a folder under `root`. @param ending of the folder's name, behind the tenant's id */
export function tenantsIn(root: string, ending: '' | typeof SHADOW = ''): string[] {
  return namesIn(root).flatMap((name) => {
    const tenant = name.endsWith(ending) ? name.slice(0, name.length - ending.length) : ''
    return isTenantId(tenant) && isFolder(root, name) !== false ? [tenant] : []
  })
}

/** Names of the folders under `root` that are read: of tenants, and of their sets in shadow. */
export function folderNames(root: string): string[] {
  return [...tenantsIn(root), ...tenantsIn(root, SHADOW).map((tenant) => `${tenant}${SHADOW}`)]
}

/** Names under `root` that are not read: files, and folders whose name is neither a tenant id nor that of a set in shadow. */
export function strayNames(root: string): string[] {
  const read = new Set(folderNames(root))
  // Hidden names belong to tools, such as the ..data of a ConfigMap.
  return namesIn(root).filter((name) => !name.startsWith('.') && !read.has(name))
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
export interface TenantFiles extends Pick<PolicySource, 'files' | 'ignored'> {
  tenant: string
  /** Real path of the folder. */
  folder: string
  /** Names of policies and tests that lead out of the folder, and are not read. */
  outside: readonly string[]
  /** Digest of the files' names and bytes. */
  digest: string
  /** Target of the link that a ConfigMap swaps; undefined without such a link. */
  version: string | undefined
}

/** Reads the folder's files; returns the problem when they cannot be read. */
export function readFiles(root: string, tenant: string): TenantFiles | TenantFolder {
  const path = join(root, tenant)
  return unlessUnreadable(path, tenant, () => {
    // All is read from one version of a folder that is a link itself.
    const folder = realpathSync(path)
    if (!isBelow(folder, realpathSync(root))) return elsewhere(tenant)
    return unlessUnreadable(folder, tenant, () => readFilesIn(folder, tenant))
  })
}

function readFilesIn(folder: string, tenant: string): TenantFiles {
  const version = versionOf(folder)
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'))
  const budget = byteBudget()
  const files: { name: string; bytes: Uint8Array }[] = []
  const outside: string[] = []
  for (const name of names.filter((name) => isPolicyFile(name) || isTestFile(name))) {
    const bytes = readInside(folder, join(folder, name), LIMITS.fileBytes)
    if (bytes === 'outside') outside.push(name)
    if (typeof bytes === 'string') continue
    budget.take(bytes)
    files.push({ name, bytes })
  }
  const known = new Set(['lists', ...outside, ...files.map(({ name }) => name)])
  const digest = digestOf(JSON.stringify([files.map(({ name, bytes }) => [name, digestOf(bytes)]), outside]))
  return { tenant, folder, files, outside, digest, version, ignored: names.filter((name) => !known.has(name)) }
}

/** A folder that is a link out of the folder of all tenants: nothing of it is read. */
function elsewhere(tenant: string): TenantFolder {
  const source: PolicySource = { tenant, files: [], outside: [''], lists: new Map(), ignored: [] }
  return { tenant, fingerprint: 'elsewhere', source }
}

/** Adds the lists at these paths. */
export function withLists(
  root: string,
  { tenant, folder, files, outside, digest, version, ignored }: TenantFiles,
  paths: readonly string[],
): TenantFolder {
  const path = join(root, tenant)
  return unlessUnreadable(path, tenant, () => {
    const budget = byteBudget()
    for (const { bytes } of files) budget.take(bytes)
    const lists = new Map<string, Uint8Array | ListProblem>()
    const present = once(() => otherFiles(folder, ignored))
    for (const path of paths) {
      const content = readList(folder, path, present)
      if (content instanceof Uint8Array) budget.take(content)
      lists.set(path, content)
    }
    if (realpathSync(path) !== folder || versionOf(folder) !== version) return exchanged(tenant)
    // Keys of a ConfigMap have no folders, so a list may lie beside the policies.
    const named = new Set(paths.map((path) => insidePath(path)?.split('/')[0]))
    const unnamed = ignored.filter((name) => !named.has(name) || isPolicyFile(name) || isTestFile(name))
    const fingerprint = digestOf(JSON.stringify([digest, digestsOf(lists), unnamed]))
    return { tenant, fingerprint, source: { tenant, files, outside, lists, ignored: unnamed } }
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
  return { tenant, fingerprint, source: { problem: 'was replaced while it was read; try again' } }
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

/** @param folder that paths in messages begin at */
function unlessUnreadable<T>(folder: string, tenant: string, read: () => T): T | TenantFolder {
  try {
    return read()
  } catch (error) {
    if (error instanceof TooLarge) {
      const problem = `holds more than ${LIMITS.setBytes} bytes of policies and lists`
      return { tenant, fingerprint: 'too large', source: { problem } }
    }
    if (!isFileError(error)) throw error
    const { path = '', code = '' } = error
    return unreadable(tenant, isBelow(path, folder) ? relative(folder, path) : '', code)
  }
}

/** @param name path that cannot be read, relative to the folder; empty for the folder itself */
function unreadable(tenant: string, name: string, code: string): TenantFolder {
  if (name === '' && code === 'ENOENT') return missingFolder(tenant)
  const itself = code === 'ENOTDIR' ? 'is a file, not a folder' : `cannot be read (${code})`
  const problem = name === '' ? itself : `holds ${JSON.stringify(name)}, which cannot be read (${code})`
  return { tenant, fingerprint: `unreadable ${name} ${code}`, source: { problem } }
}

/** The folder as the policies of this tenant, whatever its name. */
export function ofTenant({ tenant: name, fingerprint, source }: TenantFolder, tenant: string): TenantFolder {
  const folder = name === `${tenant}${SHADOW}` ? { folder: name } : {}
  return { tenant, fingerprint, source: 'problem' in source ? source : { ...source, tenant, ...folder } }
}

export function missingFolder(tenant: string): TenantFolder {
  return { tenant, fingerprint: MISSING, source: { problem: 'does not exist' } }
}

/** Reads a list. @param folder a real path, which that of the list must lie below */
function readList(folder: string, path: string, present: () => readonly string[]): Uint8Array | ListProblem {
  if (insidePath(path) === undefined) return { problem: 'is not in the tenant folder', present: present() }
  try {
    const bytes = readInside(folder, join(folder, path), LIMITS.listBytes)
    if (bytes === 'outside') return { problem: 'lies outside the tenant folder' }
    if (bytes === 'no file') return { problem: 'is not a file' }
    return bytes.byteLength > LIMITS.listBytes ? { problem: `has more than ${LIMITS.listBytes} bytes` } : bytes
  } catch (error) {
    if (!isFileError(error)) throw error
    if (error.code !== 'ENOENT') return { problem: `cannot be read (${error.code})` }
    return { problem: 'does not exist', present: present() }
  }
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
 * Names of the files directly in a folder. Empty when it is not a folder, leads out of the tenant's, or cannot be read.
 */
export function filesIn(folder: string, within = folder): string[] {
  try {
    const real = realpathSync(folder)
    if (real !== within && !isBelow(real, within)) return []
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

export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error
}
