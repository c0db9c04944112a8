import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import { GateError } from '../../base/errors.ts'
import { shortened } from '../../base/shortened.ts'
import { isBusy } from './errors.ts'

export const DATA_FILE = 'gate-sidecar.db'

/** A file that is no data file of ours, or one that was altered. The service does not start on it. */
export class UnusableFile extends Error {
  override readonly name: string = 'UnusableFile'
}

/** The file is ours, but something else has changed it: what it says does not follow from its audit chains. */
export class AlteredFile extends UnusableFile {
  override readonly name = 'AlteredFile'

  /** @param message may name what stands in the file, which has no limit */
  constructor(message: string, options?: ErrorOptions) {
    super(shortened(message, 500), options)
  }
}

/** What cannot be read is a damaged file, found at `where`; another error is itself. */
export function asUnusable(error: unknown, where: string): unknown {
  if (error instanceof GateError) return new AlteredFile(error.message, { cause: error })
  if (!(error instanceof Sqlite.SqliteError)) return error
  if (error.code === 'SQLITE_NOTADB') {
    return new UnusableFile(`${where} is not a data file of gate-sidecar.`, { cause: error })
  }
  // A generated column over text that is no JSON is a plain SQLITE_ERROR.
  const damaged = error.code === 'SQLITE_ERROR' || error.code.startsWith('SQLITE_CORRUPT')
  return damaged ? new AlteredFile(`${where} is damaged: ${error.message}.`, { cause: error }) : error
}

const MIGRATIONS = new URL('./migrations/', import.meta.url)
/** Pages kept in memory: the newest parts of a large file, so that appends do not read. */
const CACHE_KIB = 65_536
/** How long opening may wait for another process; afterwards nothing waits (see commit.ts). */
const OPEN_TIMEOUT_MS = 5000
const BUSY_PAUSE_MS = 20

/**
 * Opens DIR/gate-sidecar.db, bringing its schema up to date. A commit is on disk when it returns: WAL with
 * synchronous=FULL, which SQLite as it comes to us would not use.
 *
 * @param create make the folder and the file when there are none
 * @throws UnusableFile when there is no file, or its schema is not ours
 */
export function openDatabase(dir: string, options: { create: boolean }): Database {
  const path = join(dir, DATA_FILE)
  if (options.create) createPrivately(dir, path)
  const db = openExisting(path)
  try {
    retryWhileBusy(() => {
      assertOurs(db, path)
      configure(db)
      migrate(db)
      assertSchema(db)
    })
    db.pragma('busy_timeout = 0')
    return db
  } catch (error) {
    db.close()
    throw asUnusable(error, path)
  }
}

function openExisting(path: string): Database {
  try {
    return new Sqlite(path, { fileMustExist: true, timeout: OPEN_TIMEOUT_MS })
  } catch (cause) {
    throw new UnusableFile(
      `There is no readable data file ${path}. Name another folder with --data; or start the service once, or make a key, to create it.`,
      { cause },
    )
  }
}

// The file holds requests as they came: nobody else on the host needs to read it.
function createPrivately(dir: string, path: string): void {
  makeFolder(dir)
  closeSync(openSync(path, 'a', 0o600))
}

/** A database of another program is left as it is: nothing has been written before this. */
function assertOurs(db: Database, path: string): void {
  const tables = db.prepare<[], { count: number }>('SELECT count(*) AS count FROM sqlite_schema')
  // One transaction, since another process may be making the file at this moment.
  const foreign = db.transaction(
    () => Number(db.pragma('user_version', { simple: true })) === 0 && (tables.get()?.count ?? 0) > 0,
  )
  if (foreign()) throw new UnusableFile(`${path} is not a data file of gate-sidecar.`)
}

/** Level by level: Node's own `recursive` never ends where a file system takes no folders (seen on /proc). */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = dirname(path)
  if (parent !== path) makeFolder(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it since.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

/**
 * Does `work` again while another process holds the lock, which SQLite's own timeout does not wait for in every place
 * (a new file goes to WAL when nobody else has it open).
 */
export function retryWhileBusy<T>(work: () => T): T {
  const endMs = performance.now() + OPEN_TIMEOUT_MS
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > endMs) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MS)
    }
  }
}

function configure(db: Database): void {
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma('foreign_keys = ON')
  db.pragma(`cache_size = -${CACHE_KIB}`)
  db.pragma('trusted_schema = OFF')
  db.pragma('secure_delete = ON')
}

interface Migration {
  name: string
  sql: string
}

function migrations(): Migration[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ name, sql: readFileSync(new URL(name, MIGRATIONS), 'utf8') }))
}

/** Applies what is missing, in name order, in one transaction; user_version counts what was applied. */
function migrate(db: Database): void {
  const all = migrations()
  const version = (): number => Number(db.pragma('user_version', { simple: true }))
  // A file that is up to date is opened without the write lock, which another process may hold.
  if (version() === all.length) return
  const apply = db.transaction(() => {
    const applied = version()
    if (applied > all.length) throw new UnusableFile('The data file was written by a newer version of gate-sidecar.')
    for (const migration of all.slice(applied)) db.exec(migration.sql)
    if (applied < all.length) db.pragma(`user_version = ${all.length}`)
  })
  apply.immediate()
}

/** All but the statistics of ANALYZE: SQLite's own names protect nothing, since a trigger can be put under one of them. */
const SCHEMA =
  "SELECT type, name, sql FROM sqlite_schema WHERE NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4')) ORDER BY type, name"

/** A dropped index or trigger would quietly take a protection away, so the schema must be exactly ours. */
function assertSchema(db: Database): void {
  const fresh = new Sqlite(':memory:')
  try {
    for (const migration of migrations()) fresh.exec(migration.sql)
    const expected = JSON.stringify(fresh.prepare(SCHEMA).all())
    if (JSON.stringify(db.prepare(SCHEMA).all()) !== expected) {
      throw new AlteredFile('The schema of the data file is not the one this version makes; the file was altered.')
    }
  } finally {
    fresh.close()
  }
}
