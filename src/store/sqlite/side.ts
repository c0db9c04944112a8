import { resolve } from 'node:path'
import type { Database } from 'better-sqlite3'
import { type CopiedRow, type CopiedTable, insertSql, pageSql } from '../copy/copied-tables.ts'
import { copiedOf, type EndRow, endsOf, placed } from '../copy/rows.ts'
import type { ChainEnds, Instance, Side } from '../copy/side.ts'
import type { EntryRow } from '../entry-row.ts'
import { AlteredFile } from '../errors.ts'
import type { Fence } from '../fence.ts'
import { WHOLE_CHAIN } from '../places.ts'
import type { SealKeys } from '../store.ts'
import { COLUMNS, digitsIn, INSERT } from './columns.ts'
import { type Connection, connect } from './connection.ts'
import { asUnusable } from './errors.ts'
import { putFence, readFence, removeFence } from './fence.ts'
import { accept, assertFollows } from './load.ts'
import { type OpenOptions, openAlone } from './open.ts'

const DIALECT = { schema: '', parameter: () => '?' }

interface SideOptions extends Pick<OpenOptions, 'create' | 'onConvert'> {
  dir: string
  /** Keys by which a file of an earlier version is checked before it is converted. */
  sealKeys: SealKeys
}

/** Opens a data file for a copy from it or to it, alone. @throws UnusableFile, such as when a service has it open */
export function openFileSide({ dir, sealKeys, ...options }: SideOptions): Side {
  const db = openAlone(dir, { ...options, fenced: 'accepted', accept: (older) => accept(connect(older), { sealKeys }) })
  const connection = connect(db)
  const name = resolve(dir)
  return {
    name,
    tables: connection,
    ...reads(connection, name),
    ...writes(connection),
    assertFollows: (origin, keys) => assertFollows(connection, origin, { check: 'all', sealKeys: keys }),
    close: () => void db.close(),
  }
}

type Reads = Pick<Side, 'fence' | 'instance' | 'ends' | 'endsNow' | 'entries' | 'rows'>

function reads({ db, instance, places, texts }: Connection, name: string): Reads {
  const entries = db
    .prepare<[number, number, number], EntryRow>(
      `SELECT ${COLUMNS} FROM audit_entry WHERE at >= ? AND at < ? ORDER BY at LIMIT ?`,
    )
    .raw()
  const ends = endsReader(db)
  return {
    fence: () => readFence(db),
    instance: () => {
      const origin = instance.origin()
      return origin === undefined ? undefined : { origin, version: instance.stateVersion() }
    },
    ends,
    // Nobody else can write.
    endsNow: ends,
    entries: (chain, seq, limit) => {
      const number = places.number(chain)
      const [from, to] = places.range(chain, { ...WHOLE_CHAIN, first: seq })
      return entries.all(from, to, limit).map((row) =>
        copiedOf(row, (stored, of) => {
          const text = texts.text(number, of, stored)
          if (text === undefined)
            throw new AlteredFile(`In ${name}, entry ${of} of chain number ${number} lacks a text.`)
          return text
        }),
      )
    },
    rows: (table, after, limit) =>
      db
        .prepare<unknown[], CopiedRow>(pageSql(DIALECT, table, after === undefined))
        .raw()
        .all(...(after ?? []), limit),
  }
}

/** Names of chains that have entries, or of which anything is left. */
const NAMES = `SELECT name FROM chain WHERE EXISTS (SELECT 1 FROM audit_entry WHERE at >= number << 33 AND at < (number + 1) << 33)
  UNION SELECT chain FROM seal UNION SELECT chain FROM pruned`
/** The place of an entry of a chain, by its number. */
const END = (order: string) =>
  `(SELECT at FROM audit_entry WHERE at >= number << 33 AND at < (number + 1) << 33 ORDER BY at ${order} LIMIT 1)`

function endsReader(db: Database): () => ChainEnds[] {
  const all = db.prepare<[], EndRow>(
    `SELECT named.name, found.oldest, found.newest, coalesce(pruned.size, 0) AS pruned, seal.size, seal.key, seal.mac,
            (SELECT ${digitsIn('hash')} FROM audit_entry WHERE at = found.newest) AS hash
       FROM (${NAMES}) AS named
       LEFT JOIN (SELECT name, ${END('ASC')} AS oldest, ${END('DESC')} AS newest FROM chain) AS found ON found.name = named.name
       LEFT JOIN pruned ON pruned.chain = named.name
       LEFT JOIN seal ON seal.chain = named.name
      ORDER BY named.name`,
  )
  return () => all.all().map(endsOf)
}

type Writes = Pick<Side, 'begin' | 'append' | 'clear' | 'put' | 'putEnds' | 'finish' | 'retire'>

function writes({ db, places, texts, forget }: Connection): Writes {
  const insert = db.prepare<[EntryRow]>(INSERT)
  const putInstance = db.prepare<[string, number]>(
    `INSERT INTO instance (one, origin, state_version) VALUES (1, ?, ?)
     ON CONFLICT (one) DO UPDATE SET origin = excluded.origin, state_version = excluded.state_version`,
  )
  const putPruned = db.prepare<[string, number]>('INSERT INTO pruned (chain, size) VALUES (?, ?)')
  const putSeal = db.prepare<[string, number, string, string]>(
    'INSERT INTO seal (chain, size, key, mac) VALUES (?, ?, ?, unhex(?))',
  )
  const written = (work: () => void): void => {
    try {
      db.transaction(work).immediate()
    } catch (error) {
      forget()
      throw asUnusable(error, db.name)
    }
  }
  const setInstance = ({ origin, version }: Instance): void => void putInstance.run(origin, version)
  return {
    begin: (instance: Instance, fence: Fence) =>
      written(() => {
        setInstance(instance)
        putFence(db, fence)
      }),
    append: (chain, entries) =>
      written(() => {
        const number = places.made(chain)
        const stored = (text: string, seq: number) => texts.stored(number, seq, text)
        for (const entry of entries) insert.run(placed(entry, number, stored))
      }),
    clear: (table) => written(() => void db.prepare(`DELETE FROM ${table}`).run()),
    put: (table, rows) => written(() => putRows(db, table, rows)),
    putEnds: (instance, ends) =>
      written(() => {
        setInstance(instance)
        db.exec('DELETE FROM seal; DELETE FROM pruned')
        for (const { name, pruned, seal } of ends) {
          if (pruned > 0) putPruned.run(name, pruned)
          if (seal !== null) putSeal.run(name, ...seal)
        }
      }),
    finish: () => written(() => removeFence(db)),
    retire: (fence) => written(() => putFence(db, fence)),
  }
}

function putRows(db: Database, table: CopiedTable, rows: readonly CopiedRow[]): void {
  // Approvals are never taken in by their version.
  const more = table === 'approval' ? ['changed'] : []
  const insert = db.prepare<unknown[]>(insertSql(DIALECT, table, more))
  for (const row of rows) insert.run(...row, ...more.map(() => 0))
}
