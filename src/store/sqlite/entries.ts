import type { Database, Statement } from 'better-sqlite3'
import type { Head } from '../../audit/chain.ts'
import { type Header, readHeader, type Section, type StoredEntry } from '../../audit/entry.ts'
import type { RedactionTarget } from '../../audit/redaction.ts'
import { formatDigest, parseDigest } from '../../base/digest.ts'
import { GateError } from '../../base/errors.ts'
import { memo } from '../../base/memo.ts'
import { partitionPoint } from '../../base/partition-point.ts'
import type { PageQuery, SeqRange } from '../queries.ts'
import { withinBytes } from './budget.ts'
import { isTaken, StraySection } from './errors.ts'
import { COLUMNS, type EntryRow, OTHERS, pageQuery } from './page.ts'

/** Statements over entry and section. */
export function entryQueries(db: Database) {
  return { ...appendQueries(db), ...readQueries(db), ...placeQueries(db) }
}

/** Only commit.ts appends, inside its transaction. */
function appendQueries(db: Database) {
  const head = db.prepare<[string], { seq: number; hash: Buffer; ts: string }>(
    'SELECT seq, hash, ts FROM entry WHERE chain = ? ORDER BY seq DESC LIMIT 1',
  )
  const first = db.prepare<[string], number>('SELECT seq FROM entry WHERE chain = ? ORDER BY seq LIMIT 1').pluck()
  // One statement sees one state of the file, while others append.
  const stray = db
    .prepare<[{ chain: string }], number>(
      `SELECT seq FROM (SELECT seq FROM section
          WHERE chain = :chain AND seq > coalesce((SELECT max(seq) FROM entry WHERE chain = :chain), -1) LIMIT 1)
        UNION ALL
        SELECT seq FROM (SELECT seq FROM section
          WHERE chain = :chain AND seq < (SELECT min(seq) FROM entry WHERE chain = :chain) LIMIT 1)`,
    )
    .pluck()
  const insertEntry = db.prepare('INSERT INTO entry (chain, seq, header, hash) VALUES (?, ?, ?, ?)')
  const insertSections = sectionInserts(db)
  const tsAt = db.prepare<[string, number], { ts: string }>('SELECT ts FROM entry WHERE chain = ? AND seq = ?')
  const erase = db.prepare<[string, string, number, number]>(
    'DELETE FROM section WHERE chain = ? AND name = ? AND seq >= ? AND seq <= ?',
  )
  return {
    eraseSections: (chain: string, { section, first, last }: RedactionTarget) => erase.run(chain, section, first, last),
    head(chain: string): Head | undefined {
      const row = head.get(chain)
      return row && { seq: row.seq, hash: readHash({ chain, ...row }), tsMs: Date.parse(row.ts) }
    },
    append(entry: StoredEntry): void {
      const { chain, seq } = entry.header
      insertEntry.run(chain, seq, entry.headerText, parseDigest(entry.hash))
      const values = entry.sections.flatMap(({ name, salt, json }) => [chain, seq, name, salt, json])
      try {
        insertSections(entry.sections.length).run(values)
      } catch (error) {
        throw isTaken(error) ? new StraySection(chain, seq) : error
      }
    },
    /** Seq of a section that lies before the first entry or after the last one, and so belongs to none. */
    stray: (chain: string) => stray.get({ chain }),
    /** Oldest seq; 0 for a chain without entries. */
    first: (chain: string) => first.get(chain) ?? 0,
    /** First seq whose time is not before `ts`; one past the head when there is none. Times never fall with seq. */
    seqNotBefore(chain: string, ts: string): number {
      const from = first.get(chain) ?? 0
      const count = (head.get(chain)?.seq ?? -1) + 1 - from
      const isBefore = (i: number): boolean => (tsAt.get(chain, from + i)?.ts ?? ts) < ts
      return from + partitionPoint(count, isBefore)
    },
  }
}

/** Inserts all sections of an entry in one statement, since each statement costs more than a row. */
function sectionInserts(db: Database): (count: number) => Statement<unknown[]> {
  return memo((count) => {
    const rows = Array.from({ length: count }, () => '(?, ?, ?, ?, ?)').join(', ')
    return db.prepare(`INSERT INTO section (chain, seq, name, salt, json) VALUES ${rows}`)
  })
}

function readQueries(db: Database) {
  const byId = db.prepare<[string], EntryRow>(`SELECT ${COLUMNS} FROM entry WHERE id = ?`)
  const bySeq = db.prepare<[string, number], EntryRow>(`SELECT ${COLUMNS} FROM entry WHERE chain = ? AND seq = ?`)
  const from = db.prepare<[string, number, number], EntryRow>(
    `SELECT ${COLUMNS} FROM entry WHERE chain = ? AND seq >= ? ORDER BY seq LIMIT ?`,
  )
  const toEntry = entryReader(db)
  const toEntries = (rows: readonly EntryRow[], maxBytes: number | undefined, names?: string): StoredEntry[] =>
    withinBytes(rows, maxBytes, (row) => toEntry(row, names), sizeOf)
  const page = pageQuery(db)
  return {
    byId: (id: string) => mapRow(byId.get(id), (row) => toEntry(row)),
    bySeq: (chain: string, seq: number) => mapRow(bySeq.get(chain, seq), (row) => toEntry(row)),
    withoutSections: (chain: string, seq: number) => mapRow(bySeq.get(chain, seq), bareEntry),
    from: (chain: string, seq: number, limit: number, maxBytes?: number) =>
      toEntries(from.all(chain, seq, limit), maxBytes),
    headersFrom: (chain: string, seq: number, limit: number) => from.all(chain, seq, limit).map(({ header }) => header),
    page(query: PageQuery, range: SeqRange): { items: StoredEntry[]; total: number } {
      const { rows, total } = page(query, range)
      return { items: toEntries(rows, query.maxBytes, query.sections && JSON.stringify(query.sections)), total }
    },
  }
}

/** Every seq that a file can hold, altered ones too. */
const EVERYWHERE: SeqRange = { first: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY }

/** Positions of entries, found without reading them. */
function placeQueries(db: Database) {
  // Seeks once for each chain, instead of scanning its rows.
  const chainsIn = (table: 'entry' | 'section') =>
    db
      .prepare<[], string>(
        `WITH RECURSIVE found (chain) AS (
           SELECT min(chain) FROM ${table}
           UNION ALL
           SELECT (SELECT min(chain) FROM ${table} WHERE chain > found.chain) FROM found WHERE found.chain IS NOT NULL
         )
         SELECT chain FROM found WHERE chain IS NOT NULL`,
      )
      .pluck()
  const chains = chainsIn('entry')
  const sectionChains = chainsIn('section')
  const ofTypes = db
    .prepare<[string, number, number, string], number>(
      `SELECT seq FROM ${OTHERS} AND type IN (SELECT value FROM json_each(?)) ORDER BY seq`,
    )
    .pluck()
  const others = db.prepare<[string, number, number], number>(`SELECT count(*) FROM ${OTHERS}`).pluck()
  const last = db.prepare<[string], number>('SELECT seq FROM entry WHERE chain = ? ORDER BY seq DESC LIMIT 1').pluck()
  return {
    /** Seqs of the entries of these types (not decisions), ascending. */
    seqsOfTypes: (chain: string, types: readonly string[], { first, end }: SeqRange = EVERYWHERE) =>
      ofTypes.all(chain, first, end, JSON.stringify(types)),
    /** Number of entries other than decisions in the index of types. */
    countOthers: (chain: string, { first, end }: SeqRange) => others.get(chain, first, end) ?? 0,
    length: (chain: string) => (last.get(chain) ?? -1) + 1,
    chains: () => chains.all(),
    /** Chains that have sections, though perhaps no entry. */
    sectionChains: () => sectionChains.all(),
  }
}

/** Builds entries from rows, with all sections or those of a JSON array of names. */
function entryReader(db: Database): (row: EntryRow, names?: string) => StoredEntry {
  const all = db.prepare<[string, number], Section>(
    'SELECT name, salt, json FROM section WHERE chain = ? AND seq = ? ORDER BY name',
  )
  const named = db.prepare<[string, number, string], Section>(
    `SELECT name, salt, json FROM section
      WHERE chain = ? AND seq = ? AND name IN (SELECT value FROM json_each(?)) ORDER BY name`,
  )
  return (row, names) => {
    const rows = names === undefined ? all.all(row.chain, row.seq) : named.all(row.chain, row.seq, names)
    return { ...bareEntry(row), sections: readSections(row, rows) }
  }
}

function bareEntry(row: EntryRow): StoredEntry {
  return { header: parseHeader(row), headerText: row.header, hash: readHash(row), sections: [] }
}

// A damaged file holds values of other types than the schema; these checks report them apart from wrong values.

type Place = Pick<EntryRow, 'chain' | 'seq'>

function damaged({ chain, seq }: Place, what: string, cause?: unknown): GateError {
  return new GateError('audit_unavailable', `Audit chain ${chain}, entry ${seq}: ${what}.`, { cause })
}

/** @throws GateError naming the entry */
function readHash(row: Place & { hash: unknown }): string {
  if (row.hash instanceof Uint8Array) return formatDigest(row.hash)
  throw damaged(row, 'the hash is no bytes')
}

/** @throws GateError naming the entry */
function readSections(place: Place, rows: Section[]): Section[] {
  const isWhole = ({ name, salt, json }: Section): boolean =>
    typeof name === 'string' && salt instanceof Uint8Array && typeof json === 'string'
  if (!rows.every(isWhole)) throw damaged(place, 'a section is not text and salt')
  return rows
}

/** @throws GateError naming the entry when the text is damaged beyond reading */
function parseHeader({ chain, seq, header }: EntryRow): Header {
  const read = readHeader(header)
  if (read === undefined) throw damaged({ chain, seq }, 'the header is no header')
  return read
}

function sizeOf({ headerText, sections }: StoredEntry): number {
  return sections.reduce((sum, { json }) => sum + json.length, headerText.length)
}

function mapRow(row: EntryRow | undefined, toEntry: (row: EntryRow) => StoredEntry): StoredEntry | undefined {
  return row === undefined ? undefined : toEntry(row)
}
