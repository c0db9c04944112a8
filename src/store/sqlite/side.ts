import { resolve } from 'node:path'
import type { Database } from 'better-sqlite3'
import { encodeHex } from '../../base/bytes.ts'
import { type CopiedRow, type CopiedTable, insertSql, pageSql } from '../copy/copied-tables.ts'
import type { ChainEnds, CopiedEntry, Instance, Side } from '../copy/side.ts'
import type { EntryRow } from '../entry-row.ts'
import { AlteredFile } from '../errors.ts'
import type { Fence } from '../fence.ts'
import { placeOf, seqAt, WHOLE_CHAIN } from '../places.ts'
import type { SealKeys } from '../store.ts'
import { COLUMNS, digitsIn, INSERT } from './columns.ts'
import { type Connection, connect } from './connection.ts'
import { asUnusable } from './errors.ts'
import { putFence, readFence, removeFence } from './fence.ts'
import { accept, assertFollows } from './load.ts'
import { type OpenOptions, openAlone } from './open.ts'

const DIALECT = { schema: '', parameter: () => '?' }
/** Columns of a row whose texts entries share. */
const [GROUNDS, RISK] = [16, 17] as const

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
  const whole = (number: number, row: EntryRow): CopiedEntry => {
    const [at] = row
    const seq = seqAt(at)
    const read = (column: typeof GROUNDS | typeof RISK): string | null => {
      const stored = row[column]
      if (stored === null) return null
      const text = texts.text(number, seq, stored)
      if (text === undefined) throw new AlteredFile(`In ${name}, entry ${seq} of chain number ${number} lacks a text.`)
      return text
    }
    return row.with(0, seq).with(GROUNDS, read(GROUNDS)).with(RISK, read(RISK)) as unknown as CopiedEntry
  }
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
      const [from, to] = places.range(chain, { ...WHOLE_CHAIN, first: seq })
      return entries.all(from, to, limit).map((row) => whole(places.number(chain), row))
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

interface EndRow extends Pick<ChainEnds, 'name' | 'hash' | 'pruned'> {
  oldest: number | null
  newest: number | null
  size: number | null
  key: string | null
  mac: Uint8Array | null
}

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
  return () =>
    all.all().map(({ name, hash, pruned, oldest, newest, size, key, mac }) => ({
      name,
      first: oldest === null ? 0 : seqAt(oldest),
      length: newest === null ? 0 : seqAt(newest) + 1,
      hash,
      pruned,
      seal: size === null || key === null || mac === null ? null : [size, key, encodeHex(mac)],
    }))
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
  const putEntry = (number: number, row: CopiedEntry): void => {
    const [seq] = row
    const stored = (column: typeof GROUNDS | typeof RISK) => {
      const text = row[column]
      return typeof text === 'string' ? texts.stored(number, seq, text) : null
    }
    const placed = row.with(0, placeOf(number, seq)).with(GROUNDS, stored(GROUNDS)).with(RISK, stored(RISK))
    insert.run(placed as unknown as EntryRow)
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
        for (const row of entries) putEntry(number, row)
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
