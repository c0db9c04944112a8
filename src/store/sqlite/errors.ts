import Sqlite from 'better-sqlite3'
import { GateError } from '../../base/errors.ts'
import { shortened } from '../../base/shortened.ts'

/** Data file that is not ours, or that was altered. The service does not start on it. */
export class UnusableFile extends Error {
  override readonly name: string = 'UnusableFile'
}

/** Data file that is ours, but changed by something else: its records do not follow from its audit chains. */
export class AlteredFile extends UnusableFile {
  override readonly name = 'AlteredFile'

  /** The chain whose end is not what was written; undefined for other faults. */
  readonly chain: string | undefined

  /** @param message may hold text from the file, which has no limit */
  constructor(message: string, { chain, ...options }: ErrorOptions & { chain?: string } = {}) {
    super(shortened(message, 500), options)
    this.chain = chain
  }
}

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

/** Entry that the tree needs but the file lacks. */
export class MissingEntry extends Error {
  override readonly name = 'MissingEntry'
  readonly seq: number

  constructor(chain: string, seq: number) {
    super(`Audit chain ${chain}, entry ${seq} is missing.`)
    this.seq = seq
  }
}

export function isSqliteError(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError
}

/** Failure of storage as callers see it. SQLite's own words go into the log through `cause`. */
export function unavailable(what: string, cause: unknown): GateError {
  return new GateError('audit_unavailable', `The audit store cannot ${what}; nothing was decided.`, { cause })
}
