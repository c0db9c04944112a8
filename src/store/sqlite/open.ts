import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import { memo, once } from '../../base/memo.ts'
import { AlteredFile, UnusableFile } from '../errors.ts'
import { assertUnfenced } from '../fence.ts'
import { makeFolder } from '../make-folder.ts'
import { asUnusable, isBusy } from './errors.ts'
import { FENCE, readFence } from './fence.ts'
import { entriesToMove, moveEntries } from './move-entries.ts'

export const DATA_FILE = 'gate-sidecar.db'

const MIGRATIONS = new URL('./migrations/', import.meta.url)
/** Size of the page cache, which holds the newest parts of a large file, so that appends do not read. */
const CACHE_KIB = 8192
/**
 * Time that opening may wait for another process, which makes a new file slowly on a slow disk; afterwards nothing waits
 * (see commit.ts).
 */
const OPEN_TIMEOUT_MS = 20_000
const BUSY_PAUSE_MS = 20

export interface OpenOptions {
  /** Creates the folder and the file when missing. */
  create: boolean
  /** Checks what the migrations have made of an older file, before the last of them is committed; throws to refuse it. */
  accept?: (db: Database) => void
  /** Receives how many entries of a large older file are still to be converted, after each part; 0 at the end. */
  onConvert?: ((left: number) => void) | undefined
  /** Opens a file with a fence too, for the command that copies trails. */
  fenced?: 'refused' | 'accepted'
}

/**
 * Opens DIR/gate-sidecar.db and brings its schema up to date. A commit is on disk when it returns: WAL with
 * synchronous=FULL, which is not the default of the SQLite that we use. A file that is refused is not changed, but for
 * the entries of a large one that were converted by then.
 *
 * @throws UnusableFile when there is no file, its schema is not ours, or SQLite is not built
 */
export function openDatabase(dir: string, options: OpenOptions): Database {
  const path = join(dir, DATA_FILE)
  if (options.create) createPrivately(dir, path)
  // Closed after the other one, which would else write what SQLite's log holds into a file that is refused.
  const reader = openExisting(path, { readonly: true })
  try {
    retryWhileBusy(() => assertOurs(reader, path, options.fenced))
    return openUpToDate(path, options)
  } catch (error) {
    throw asUnusable(error, path)
  } finally {
    reader.close()
  }
}

function openUpToDate(path: string, options: OpenOptions): Database {
  const db = openExisting(path)
  try {
    retryWhileBusy(() => configure(db))
    let isInParts = false
    while (!retryWhileBusy(() => migrate(db, options))) {
      isInParts = true
      options.onConvert?.(entriesToMove(db))
    }
    if (isInParts) options.onConvert?.(0)
    retryWhileBusy(() => db.pragma('journal_mode = WAL'))
    db.pragma('busy_timeout = 0')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Opens the file as `openDatabase` does, for this connection alone: as long as it is open, no other process reads or
 * writes the file.
 *
 * @throws UnusableFile when another process has it open
 */
export function openAlone(dir: string, options: OpenOptions): Database {
  openDatabase(dir, options).close()
  const path = join(dir, DATA_FILE)
  const db = openExisting(path)
  try {
    db.pragma('busy_timeout = 0')
    db.pragma('locking_mode = EXCLUSIVE')
    configure(db)
    assertOurs(db, path, options.fenced)
    return db
  } catch (error) {
    db.close()
    throw isBusy(error)
      ? new UnusableFile(`${path} is in use by another process; stop it first.`)
      : asUnusable(error, path)
  }
}

/**
 * Opens the file to read it, and changes nothing of it.
 *
 * @throws UnusableFile when there is no file, or its schema is not that of this version
 */
export function openToRead(dir: string): Database {
  const path = join(dir, DATA_FILE)
  const db = openExisting(path, { readonly: true })
  try {
    retryWhileBusy(() => assertOurs(db, path))
    if (levelOf(db) === migrations().length) return db
    throw new UnusableFile(
      'The data file was written by an earlier version of gate-sidecar; use that version, or start this one on it first.',
    )
  } catch (error) {
    db.close()
    throw asUnusable(error, path)
  }
}

function openExisting(path: string, options: { readonly: boolean } = { readonly: false }): Database {
  try {
    return new Sqlite(path, { ...options, fileMustExist: true, timeout: OPEN_TIMEOUT_MS })
  } catch (cause) {
    if (isNotBuilt(cause)) throw new UnusableFile(NOT_BUILT, { cause })
    throw new UnusableFile(
      `There is no readable data file ${path}. Name another folder with --data; or start the service once, or make a key, to create it.`,
      { cause },
    )
  }
}

/** True for a SQLite that was never compiled, as without install scripts, or was compiled for another Node.js. */
function isNotBuilt(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ERR_DLOPEN_FAILED' || /^Could not locate the bindings file/.test(message)
}
const NOT_BUILT = `SQLite is not built for Node.js ${process.version}. Run \`npm rebuild better-sqlite3\`; without a prebuilt binary, this needs python3, make and g++. If npm skipped its install script, allow it first: \`npm install-scripts approve better-sqlite3\`.`

// The file holds whole requests: nobody else on the host needs to read it.
function createPrivately(dir: string, path: string): void {
  makeFolder(dir)
  closeSync(openSync(path, 'a', 0o600))
}

/** Refuses a database of another program, of a newer version, or that was altered, before anything is written. */
function assertOurs(db: Database, path: string, fenced: OpenOptions['fenced'] = 'refused'): void {
  const tables = db.prepare<[], { count: number }>('SELECT count(*) AS count FROM sqlite_schema')
  // One transaction, since another process may be creating the file at this moment.
  const check = db.transaction(() => {
    const level = levelOf(db)
    if (level === 0 && (tables.get()?.count ?? 0) > 0)
      throw new UnusableFile(`${path} is not a data file of gate-sidecar.`)
    if (fenced === 'refused') assertUnfenced(path, readFence(db))
    assertSchema(db, level)
  })
  check()
}

/**
 * Retries `work` while another process holds the lock. SQLite's own timeout does not cover every case, such as the
 * switch of a new file to WAL, which needs the file alone.
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
  db.pragma('synchronous = FULL')
  db.pragma('foreign_keys = ON')
  db.pragma(`cache_size = -${CACHE_KIB}`)
  db.pragma('trusted_schema = OFF')
  db.pragma('secure_delete = ON')
}

/** Texts of the migrations, in name order. */
const migrations = once(() =>
  readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => readFileSync(new URL(name, MIGRATIONS), 'utf8')),
)

/** Number of migrations that were applied. */
const levelOf = (db: Database): number => Number(db.pragma('user_version', { simple: true }))

/** Number of migrations after which entries are moved; then the rest of them is applied. */
const MOVE_AT = 12

/**
 * Applies the missing migrations in name order, in one transaction. Where the file has more entries to move than one
 * transaction should hold, it is done in parts; a process that ends between them leaves the rest to the next one.
 *
 * @returns false when entries are left
 */
function migrate(db: Database, { accept = () => undefined }: OpenOptions): boolean {
  const all = migrations()
  // Opening a file that is up to date needs no write lock, which another process may hold.
  if (levelOf(db) === all.length) return true
  const apply = db.transaction((): boolean => {
    const level = levelOf(db)
    assertSchema(db, level)
    if (level === all.length) return true
    for (const sql of all.slice(level, MOVE_AT)) db.exec(sql)
    const isMoved = level > MOVE_AT || moveEntries(db)
    if (isMoved) for (const sql of all.slice(Math.max(level, MOVE_AT))) db.exec(sql)
    const reached = isMoved ? all.length : MOVE_AT
    db.pragma(`user_version = ${reached}`)
    assertSchema(db, reached)
    if (isMoved) accept(db)
    return isMoved
  })
  return apply.immediate()
}

/** Excludes only the fence and the statistics of ANALYZE. Other reserved names are compared too, since a trigger can have one. */
const SCHEMA = `SELECT type, name, sql FROM sqlite_schema
  WHERE NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4', '${FENCE}')) ORDER BY type, name`

/** Schema that so many migrations make, as text. */
const expectedSchema = memo((level: number) => {
  const fresh = new Sqlite(':memory:')
  try {
    for (const sql of migrations().slice(0, level)) fresh.exec(sql)
    return schemaOf(fresh)
  } finally {
    fresh.close()
  }
})

const schemaOf = (db: Database): string => JSON.stringify(db.prepare(SCHEMA).all())

/** Requires exactly our schema: a dropped index or trigger would silently remove a protection. */
function assertSchema(db: Database, level: number): void {
  if (level > migrations().length)
    throw new UnusableFile('The data file was written by a newer version of gate-sidecar.')
  if (schemaOf(db) === expectedSchema(level)) return
  throw new AlteredFile(
    level === migrations().length
      ? 'The schema of the data file is not the one this version makes; the file was altered.'
      : 'The schema of the data file is not the one that its version made; the file was altered, and is left as it is.',
  )
}
