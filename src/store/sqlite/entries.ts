import type { Database } from 'better-sqlite3'
import type { Head } from '../../audit/chain.ts'
import type { PreparedEntry } from '../../audit/draft.ts'
import { SALT_BYTES, type StoredEntry } from '../../audit/entry.ts'
import type { RedactionTarget } from '../../audit/redaction.ts'
import { headOf } from '../../audit/verify.ts'
import { digitsOf } from '../../base/digest.ts'
import { idBytes } from '../../base/id.ts'
import { partitionPoint } from '../../base/partition-point.ts'
import { formatTimestamp } from '../../base/time.ts'
import { entrySize, withinBytes } from '../budget.ts'
import { type EntryRow, type EntryRows, erasableSalt, type HeaderRow } from '../entry-row.ts'
import { numberAt, WHOLE_CHAIN } from '../places.ts'
import type { PageQuery, SeqRange } from '../queries.ts'
import { type OfType, SUMS } from '../source.ts'
import { COLUMNS, digitsIn, HEADER_COLUMNS, INSERT } from './columns.ts'
import { OTHERS, pageQuery } from './page.ts'
import { type ChainPlaces, LIMIT, SEQ } from './places.ts'

/** Statements over audit_entry. */
export function entryQueries(db: Database, places: ChainPlaces, rows: EntryRows) {
  const placed = placeQueries(db, places)
  return { ...appendQueries(db, places, rows), ...readQueries(db, places, rows, placed), ...placed }
}

/** Only commit.ts appends, inside its transaction. */
function appendQueries(db: Database, places: ChainPlaces, rows: EntryRows) {
  const head = db.prepare<[number, number], HeaderRow>(endOf(HEADER_COLUMNS, 'DESC')).raw()
  const newestHash = db
    .prepare<[number, number], [at: number, digits: string]>(endOf(`at, ${digitsIn('hash')}`, 'DESC'))
    .raw()
  const insert = db.prepare<[EntryRow]>(INSERT)
  const headOfChain = (chain: string): Head | undefined => {
    const row = head.get(...places.range(chain, WHOLE_CHAIN))
    return row && headOf(rows.bareEntry(chain, row))
  }
  return {
    eraseSections: eraser(db, places),
    /** @throws GateError naming the entry when it is damaged beyond reading */
    head: headOfChain,
    /** True when this is still the head: each commit asks, and a head costs more to read. */
    isHead(chain: string, { seq, hash }: Head): boolean {
      const [at, digits] = newestHash.get(...places.range(chain, WHOLE_CHAIN)) ?? []
      return at === places.at(chain, seq) && digits === digitsOf(hash)
    },
    append: (entry: StoredEntry, prepared: PreparedEntry, salts: Uint8Array) =>
      insert.run(rows.rowOf(entry, prepared, salts)),
  }
}

/** Erases a section of entries, with its salt. */
function eraser(db: Database, places: ChainPlaces): (chain: string, target: RedactionTarget) => void {
  const zeros = `x'${'00'.repeat(SALT_BYTES)}'`
  return (chain, { section, first, last }) => {
    const erased = erasableSalt(section)
    if (erased === undefined) return
    const { column, offset } = erased
    db.prepare(
      `UPDATE audit_entry
          SET ${column} = NULL,
              salts = CAST(substr(salts, 1, ${offset}) || ${zeros} || substr(salts, ${offset + SALT_BYTES + 1}) AS BLOB)
        WHERE at >= ? AND at < ? AND ${column} IS NOT NULL`,
    ).run(...places.range(chain, { first, end: last + 1 }))
  }
}

function readQueries(db: Database, places: ChainPlaces, rows: EntryRows, placed: ReturnType<typeof placeQueries>) {
  const byId = db.prepare<[Uint8Array], EntryRow>(`SELECT ${COLUMNS} FROM audit_entry WHERE id = ?`).raw()
  const byPlace = db.prepare<[number], EntryRow>(`SELECT ${COLUMNS} FROM audit_entry WHERE at = ?`).raw()
  const header = db.prepare<[number], HeaderRow>(`SELECT ${HEADER_COLUMNS} FROM audit_entry WHERE at = ?`).raw()
  const from = (columns: string) => `SELECT ${columns} FROM audit_entry WHERE at >= ? AND at < ? ORDER BY at ${LIMIT}`
  const entriesFrom = db.prepare<[number, number, number], EntryRow>(from(COLUMNS)).raw()
  const headersFrom = db.prepare<[number, number, number], HeaderRow>(from(HEADER_COLUMNS)).raw()
  const after = (chain: string, seq: number) => places.range(chain, { ...WHOLE_CHAIN, first: seq })
  const page = pageQuery(db, places)
  const rangeOf = pageRange(placed)
  return {
    byId(id: string): StoredEntry | undefined {
      const bytes = idBytes(id, 'entry')
      const row = bytes && byId.get(bytes)
      const chain = row && places.name(numberAt(row[0]))
      return row && chain !== undefined ? rows.entry(chain, row) : undefined
    },
    bySeq(chain: string, seq: number): StoredEntry | undefined {
      const row = byPlace.get(places.at(chain, seq))
      return row && rows.entry(chain, row)
    },
    withoutSections(chain: string, seq: number): StoredEntry | undefined {
      const row = header.get(places.at(chain, seq))
      return row && rows.bareEntry(chain, row)
    },
    from: (chain: string, seq: number, limit: number, maxBytes?: number) =>
      withinBytes(entriesFrom.all(...after(chain, seq), limit), maxBytes, (row) => rows.entry(chain, row), entrySize),
    headersFrom: (chain: string, seq: number, limit: number) =>
      headersFrom.all(...after(chain, seq), limit).map((row) => rows.bareEntry(chain, row).headerText),
    page(query: PageQuery): { items: StoredEntry[]; total: number } {
      const { rows: found, total } = page(query, rangeOf(query))
      const items = withinBytes(found, query.maxBytes, (row) => rows.entry(query.chain, row, query.sections), entrySize)
      return { items, total }
    },
  }
}

/** Positions of entries, found without reading them. */
function placeQueries(db: Database, places: ChainPlaces) {
  const ofTypes = db
    .prepare<[number, number, number, string], number>(
      `SELECT ${SEQ} FROM ${OTHERS} AND type IN (SELECT value FROM json_each(?)) ORDER BY at`,
    )
    .pluck()
  const ofEachType = db.prepare<[number, number, number], OfType & { type: string }>(
    `SELECT type, count(*) AS count, sum(${SEQ}) % ${SUMS} AS sum FROM ${OTHERS} GROUP BY type`,
  )
  const end = (columns: string, order: 'ASC' | 'DESC') =>
    db.prepare<[number, number], number>(endOf(columns, order)).pluck()
  const [oldest, newest, tsFrom] = [end(SEQ, 'ASC'), end(SEQ, 'DESC'), end('ts', 'ASC')]
  const tsAt = db.prepare<[number], number>('SELECT ts FROM audit_entry WHERE at = ?').pluck()
  /** Oldest seq; 0 for a chain without entries. */
  const first = (chain: string): number => oldest.get(...places.range(chain, WHOLE_CHAIN)) ?? 0
  const length = (chain: string): number => (newest.get(...places.range(chain, WHOLE_CHAIN)) ?? -1) + 1
  /**
   * First seq below `end` whose time is not before; `end` when there is none. Times never fall with seq.
   *
   * @param near a probable result, from which the search begins
   */
  const firstNot = (chain: string, end: number, isBefore: (tsMs: number) => boolean, near?: number): number => {
    const isBeforeAt = (seq: number): boolean => {
      // The time of the next entry, where this one was pruned or deleted.
      const tsMs = tsFrom.get(...places.range(chain, { first: seq, end }))
      return tsMs !== undefined && isBefore(tsMs)
    }
    const found = partitionPoint(end, isBeforeAt, near)
    return tsAt.get(places.at(chain, found)) === undefined ? Math.max(found, first(chain)) : found
  }
  return {
    first,
    length,
    firstNotBefore: (chain: string, end: number, atMs: number, near: number | undefined) =>
      firstNot(chain, end, (tsMs) => tsMs < atMs, near),
    /** First seq whose time is not before `ts`; one past the head when there is none. */
    seqNotBefore: (chain: string, ts: string) => firstNot(chain, length(chain), (tsMs) => formatTimestamp(tsMs) < ts),
    /** Seqs of the entries of these types (not decisions), ascending. */
    seqsOfTypes: (chain: string, types: readonly string[], range: SeqRange = WHOLE_CHAIN) =>
      ofTypes.all(places.number(chain), ...places.range(chain, range), JSON.stringify(types)),
    /** Entries of a range that the index of types has, which lacks decisions. */
    typesIndexed: (chain: string, range: SeqRange): Map<string, OfType> => {
      const rows = ofEachType.all(places.number(chain), ...places.range(chain, range))
      return new Map(rows.map(({ type, ...found }) => [type, found]))
    },
    lengths: (chains: readonly string[]) => new Map(chains.map((chain) => [chain, length(chain)])),
    chains: places.chains,
    lanes: places.lanes,
  }
}

/** Range of a page's entries, before its limit and offset. */
function pageRange({ first, length, seqNotBefore }: ReturnType<typeof placeQueries>) {
  return ({ chain, from, to, before = Number.MAX_SAFE_INTEGER, since = 0 }: PageQuery): SeqRange => ({
    first: Math.max(from === undefined ? first(chain) : seqNotBefore(chain, from), since),
    end: Math.min(to === undefined ? length(chain) : seqNotBefore(chain, to), before),
  })
}

/** Query for the first entry of a range of places, or the last. */
function endOf(columns: string, order: 'ASC' | 'DESC'): string {
  return `SELECT ${columns} FROM audit_entry WHERE at >= ? AND at < ? ORDER BY at ${order} LIMIT 1`
}
