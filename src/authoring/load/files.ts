/** Reason why a list file is not available. */
export interface ListProblem {
  /** A predicate such as `does not exist`. */
  readonly problem: string
  /** Paths of files of the folder that may be meant; none where there is a file. */
  readonly present?: readonly string[]
}

/** Bytes of list files by path as written, or the reason why they are not available. */
export type ListFiles = ReadonlyMap<string, Uint8Array | ListProblem>

/** Paths that do not begin in a tenant's folder: absolute ones, those of Windows, and addresses. */
const ELSEWHERE = /^\/|^[A-Za-z]:|^[A-Za-z][A-Za-z0-9+.-]*:\/\/|[\\\0]/

/**
 * The path without its `.` and `..`, empty for the folder itself. Undefined when it leaves the folder by its text alone; links
 * are the reader's concern.
 */
export function insidePath(path: string): string | undefined {
  if (ELSEWHERE.test(path)) return undefined
  const steps: string[] = []
  for (const part of path.split('/')) {
    if (part === '..' && steps.pop() === undefined) return undefined
    if (part !== '..' && part !== '.' && part !== '') steps.push(part)
  }
  return steps.join('/')
}

/** The files of one tenant's folder as they were read; loading reads nothing else. */
export interface PolicySource {
  /** The tenant that the files are about. */
  tenant: string
  /** The folder's name in diagnostics, where it is not that of the tenant. */
  folder?: string
  /** Policies and tests, by name in the folder. */
  files: readonly { name: string; bytes: Uint8Array }[]
  /** Policies and tests that are links out of the folder, by name; the empty name is the folder itself. */
  outside?: readonly string[]
  lists: ListFiles
  /** Other entries of the folder, each reported: as an error when it is named as a policy or test. */
  ignored: readonly string[]
}

/** A file, or the folder itself, as diagnostics name it. */
export function shownPath({ tenant, folder = tenant }: Pick<PolicySource, 'tenant' | 'folder'>, name = ''): string {
  return name === '' ? folder : `${folder}/${name}`
}

/** The contents of a tenant's folder: its files as they were read, or the reason why they cannot be. */
export interface TenantFolder {
  tenant: string
  /** Fingerprint that changes with any byte of the set, however the file came there. */
  fingerprint: string
  source: PolicySource | { problem: string }
}

/** The fingerprint of a folder that is not there. */
export const MISSING = 'missing'

const POLICY = /\.(?:yaml|yml|json)$/
const TEST = /\.test\.[^.]+$/

/** A file of policies: its ending says so, it is not hidden and not a test. */
export function isPolicyFile(name: string): boolean {
  return POLICY.test(name) && !name.startsWith('.') && !TEST.test(name)
}

/** A file of tests of the policies, `*.test.yaml` and the like. */
export function isTestFile(name: string): boolean {
  return POLICY.test(name) && !name.startsWith('.') && TEST.test(name)
}

/** A name that its writer takes for that of a policy or test, though capitals keep it from being read. */
export function isNamedAsPolicy(name: string): boolean {
  const lower = name.toLowerCase()
  return isPolicyFile(lower) || isTestFile(lower)
}

/**
 * Result of work that is bounded in time and memory; or a predicate that says why it did not end, such as `takes more
 * than 20 s to load`.
 */
export type Bounded<T> = { value: T } | { fault: string }

/** Delay until work that did not end is tried again, though its input is the same: the machine may have been busy. */
export const RETRY_MS = 60_000

/** A key that may mean `lists`, misspelt or with an escape. Every repetition is bounded, so that no text takes quadratic time. */
const LISTS_KEY = /list\w{0,8}(?:\\|["']?\s{0,80}(#[^\n]{0,200}\n\s{0,80}){0,3}:)/

/** Most policies have no lists, and reading a large file as YAML takes a second. */
export function mentionsLists({ name, bytes }: PolicySource['files'][number]): boolean {
  return isPolicyFile(name) && LISTS_KEY.test(Buffer.from(bytes).toString('latin1'))
}

export function mentions(bytes: Uint8Array, word: string): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(word)
}

/** Names of the policy files, in the order in which they are read. */
export function policyFilesOf({ files }: PolicySource): string[] {
  return files
    .map(({ name }) => name)
    .filter(isPolicyFile)
    .sort()
}
