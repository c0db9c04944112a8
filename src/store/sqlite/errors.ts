import Sqlite from 'better-sqlite3'
import { GateError } from '../../base/errors.ts'

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

/** Section at the place of an entry that is not written yet: somebody else put it there, and it keeps the chain from growing. */
export class StraySection extends Error {
  override readonly name = 'StraySection'

  constructor(chain: string, seq: number) {
    super(strayFault(chain, seq))
  }
}

export function strayFault(chain: string, seq: number): string {
  return `Audit chain ${chain} has a section of entry ${seq}, and no such entry. The file was altered outside gate-sidecar.`
}

/** Refusal of a row whose primary key another one has. */
export function isTaken(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

export function isSqliteError(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError
}

/** Failure of storage as callers see it. SQLite's own words go into the log through `cause`. */
export function unavailable(what: string, cause: unknown): GateError {
  return new GateError('audit_unavailable', `The audit store cannot ${what}; nothing was decided.`, { cause })
}
