import Sqlite from 'better-sqlite3'
import { GateError } from '../../base/errors.ts'
import { AlteredFile, UnusableFile } from '../errors.ts'

/** Translates errors that show a damaged file, found at `where`; returns other errors unchanged. */
export function asUnusable(error: unknown, where: string): unknown {
  if (error instanceof GateError) return new AlteredFile(error.message, { cause: error })
  if (!(error instanceof Sqlite.SqliteError)) return error
  if (error.code === 'SQLITE_NOTADB') {
    return new UnusableFile(`${where} is not a data file of gate-sidecar.`, { cause: error })
  }
  // SQLite reports a generated column over text that is not JSON as a plain SQLITE_ERROR.
  const damaged = error.code === 'SQLITE_ERROR' || error.code.startsWith('SQLITE_CORRUPT')
  return damaged ? new AlteredFile(`${where} is damaged: ${error.message}.`, { cause: error }) : error
}

/** Another connection holds the lock; the same statement may succeed a moment later. */
export function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')
}

/** Refusal of a second pending approval for an equal request, by the unique index. */
export function isPendingTwice(error: unknown): boolean {
  return (
    error instanceof Sqlite.SqliteError &&
    error.code === 'SQLITE_CONSTRAINT_UNIQUE' &&
    // SQLite names the columns of the index, not the index.
    error.message.endsWith('approval.chain, approval.digest')
  )
}

export function isSqliteError(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError
}
