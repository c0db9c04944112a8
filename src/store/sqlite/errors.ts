import Sqlite from 'better-sqlite3'
import { GateError } from '../../base/errors.ts'

/** Another connection holds the lock; the same statement may succeed a moment later. */
export function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')
}

/** The index that keeps two equal requests from making two approvals has refused one. */
export function isPendingTwice(error: unknown): boolean {
  return (
    error instanceof Sqlite.SqliteError &&
    error.code === 'SQLITE_CONSTRAINT_UNIQUE' &&
    // SQLite names the columns of the index, not the index.
    error.message.endsWith('approval.chain, approval.digest')
  )
}

/** An entry that the tree needs is not in the file. */
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

/** The one failure that storage has for callers. SQLite's own words go into the log through `cause`, not to the caller. */
export function unavailable(what: string, cause: unknown): GateError {
  return new GateError('audit_unavailable', `The audit store cannot ${what}; nothing was decided.`, { cause })
}
