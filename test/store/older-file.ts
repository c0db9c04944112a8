import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import { withTables } from './old-tables.ts'

const FOLDER = new URL('../../src/store/sqlite/migrations/', import.meta.url)
export const MIGRATIONS = readdirSync(FOLDER)
  .sort()
  .map((name) => readFileSync(new URL(name, FOLDER), 'utf8'))

const tables = (db: Database): string[] =>
  db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all()

/** Columns that are stored, not generated. */
const columns = (db: Database, table: string): string[] =>
  db
    .prepare<[], { name: string; hidden: number }>(`PRAGMA table_xinfo(${table})`)
    .all()
    .flatMap(({ name, hidden }) => (hidden === 0 ? [name] : []))

/** The last version that kept entries in two tables. */
export const IN_TWO_TABLES = MIGRATIONS.findIndex((sql) => sql.includes('CREATE TABLE audit_entry'))

function moveBack(db: Database): void {
  withTables(db, 'newer')
  for (const [table, names] of [
    ['entry', 'chain, seq, header, hash'],
    ['section', 'chain, seq, name, salt, json'],
  ])
    db.exec(`INSERT INTO main.${table} (${names}) SELECT ${names} FROM temp.${table}`)
  db.exec('DROP VIEW temp.entry; DROP VIEW temp.section')
}

/** Writes the rows of the data file in `from` as the version with so many migrations kept them, into a new folder. */
export function olderFile(from: string, level: number, to: string): void {
  mkdirSync(to, { mode: 0o700 })
  const copy = join(to, 'copy.db')
  new Sqlite(join(from, DATA_FILE)).exec(`VACUUM INTO '${copy}'`).close()
  const db = new Sqlite(join(to, DATA_FILE))
  db.pragma('journal_mode = WAL')
  for (const sql of MIGRATIONS.slice(0, level)) db.exec(sql)
  db.pragma(`user_version = ${level}`)
  db.exec(`ATTACH '${copy}' AS newer`)
  for (const table of tables(db)) {
    const names = columns(db, table).join(', ')
    const isKept = db.prepare('SELECT 1 FROM newer.sqlite_schema WHERE name = ?').get(table) !== undefined
    if (isKept) db.exec(`INSERT INTO main.${table} (${names}) SELECT ${names} FROM newer.${table}`)
  }
  if (level <= IN_TWO_TABLES) moveBack(db)
  db.exec('DETACH newer')
  db.close()
  rmSync(copy)
}

/** The files of a data folder as a process leaves them that is killed: what was written last is in the log alone. */
export function asKilled(dir: string, to: string, last: string): void {
  mkdirSync(to, { mode: 0o700 })
  const db = new Sqlite(join(dir, DATA_FILE))
  db.pragma('journal_mode = WAL')
  db.pragma('wal_autocheckpoint = 0')
  db.exec(last)
  for (const name of readdirSync(dir)) copyFileSync(join(dir, name), join(to, name))
  db.close()
}
