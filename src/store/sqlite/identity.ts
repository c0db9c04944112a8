import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DATA_FILE } from './open.ts'

/** Data file and SQLite's files beside it: a commit that goes to any of them unlinked is lost. */
const FILES = [DATA_FILE, `${DATA_FILE}-wal`, `${DATA_FILE}-shm`]

/**
 * Identity of the files in a data folder, as one text to compare.
 * A deleted or replaced file stays open in this process, and SQLite would go on writing where nobody can read again.
 */
export function identityOf(dir: string): string {
  return FILES.map((name) => fileIdentity(join(dir, name))).join()
}

/** Device and inode of the data file alone, which outlive a connection. */
export function dataFileIdentity(dir: string): string {
  return fileIdentity(join(dir, DATA_FILE))
}

function fileIdentity(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? 'none' : `${found.dev}:${found.ino}`
}
