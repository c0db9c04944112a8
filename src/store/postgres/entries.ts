import type { Head } from '../../audit/chain.ts'
import type { PreparedEntry } from '../../audit/draft.ts'
import { SALT_BYTES, type StoredEntry } from '../../audit/entry.ts'
import type { RedactionTarget } from '../../audit/redaction.ts'
import { headOf } from '../../audit/verify.ts'
import { GateError } from '../../base/errors.ts'
import { idBytes } from '../../base/id.ts'
import { partitionPoint } from '../../base/partition-point.ts'
import { formatTimestamp, LAST_TIME_MS } from '../../base/time.ts'
import { entrySize, withinBytes } from '../budget.ts'
import { type EntryRow, type EntryRows, erasableSalt, type HeaderRow } from '../entry-row.ts'
import { numberAt, seqAt, WHOLE_CHAIN } from '../places.ts'
import type { PageQuery, SeqRange } from '../queries.ts'
import { type OfType, type Row, type RowOptions, SUMS } from '../source.ts'
import { storedRow, wholeDataOf } from '../stored-row.ts'
import type { ChainPlaces } from './chains.ts'
import { first, type Runner, type Statement, statement } from './database.ts'
import { COLUMNS, HEADER_COLUMNS, INSERT, parametersOf, rowOf, type StoredRow } from './entry-columns.ts'

const FROM = 'FROM gate.audit_entry AS e'
const RANGE = `${FROM} WHERE at >= $1 AND at < $2`
const inOrder = (columns: string, order = 'at'): Statement => statement(`SELECT ${columns} ${RANGE} ORDER BY ${order}`)
const limited = (columns: string, order = 'at'): Statement =>
  statement(`SELECT ${columns} ${RANGE} ORDER BY ${order} LIMIT $3`)

const BY_ID = statement(`SELECT ${COLUMNS} ${FROM} WHERE id = $1`)
const WHOLE = inOrder(COLUMNS)
const HEADERS = inOrder(HEADER_COLUMNS)
const SOME = limited(COLUMNS)
const SOME_HEADERS = limited(HEADER_COLUMNS)
const NEWEST_HEADERS = limited(HEADER_COLUMNS, 'at DESC')
const OLDEST_PLACES = limited('at')
const NEWEST_PLACES = limited('at', 'at DESC')
const LENGTHS = statement(
  `SELECT c.name, e.at FROM gate.chain AS c CROSS JOIN LATERAL (SELECT at FROM gate.audit_entry
      WHERE at >= c.number::bigint << 33 AND at < (c.number::bigint + 1) << 33 ORDER BY at DESC LIMIT 1) AS e
    WHERE c.name = ANY($1)`,
)
const FIRST_NOT_BEFORE = statement(
  `SELECT at ${FROM} WHERE chain = $1 AND ts >= $2 AND at < $3 ORDER BY chain, ts, at LIMIT 1`,
)
const OTHERS = `${FROM} WHERE chain = $1 AND type IS NOT NULL AND at >= $2 AND at < $3`
const OF_TYPES = statement(`SELECT seq ${OTHERS} AND type = ANY($4) ORDER BY at`)
const OF_EACH_TYPE = statement(
  `SELECT type, count(*) AS count, (sum(seq) % ${SUMS})::bigint AS sum ${OTHERS} GROUP BY type`,
)

/** Rows of entries, by the codec that both engines have. */
interface Codec {
  run: Runner
  places: ChainPlaces
  rows: EntryRows
}

/** The row in the form of the codec. @throws GateError for one that refers to something else than its data says */
function whole(stored: StoredRow): EntryRow {
  const row = rowOf(stored)
  if (row !== undefined) return row
  const [at] = stored
  throw new GateError('audit_unavailable', `Chain number ${numberAt(at)}, entry ${seqAt(at)}: it is listed as another.`)
}

export function entryReads({ run, places, rows }: Codec) {
  const wholeIn = (of: Statement, values: unknown[]) => run.arrays<StoredRow>(of, values)
  const headersIn = (of: Statement, values: unknown[]) => run.arrays<HeaderRow>(of, values)
  const one = (chain: string, seq: number) => places.range(chain, { first: seq, end: seq + 1 })
  const after = (chain: string, seq: number) => places.range(chain, { ...WHOLE_CHAIN, first: seq })
  return {
    ...placeReads(run, places),
    async byId(id: string): Promise<StoredEntry | undefined> {
      const bytes = idBytes(id, 'entry')
      const stored = bytes && (await first(wholeIn(BY_ID, [bytes])))
      const chain = stored && (await places.name(numberAt(stored[0])))
      return stored && chain !== undefined ? rows.entry(chain, whole(stored)) : undefined
    },
    async bySeq(chain: string, seq: number): Promise<StoredEntry | undefined> {
      const stored = await first(wholeIn(WHOLE, await one(chain, seq)))
      return stored && rows.entry(chain, whole(stored))
    },
    async withoutSections(chain: string, seq: number): Promise<StoredEntry | undefined> {
      const row = await first(headersIn(HEADERS, await one(chain, seq)))
      return row && rows.bareEntry(chain, row)
    },
    async from(chain: string, seq: number, limit: number, maxBytes?: number): Promise<StoredEntry[]> {
      const found = await wholeIn(SOME, [...(await after(chain, seq)), limit])
      return withinBytes(found, maxBytes, (row) => rows.entry(chain, whole(row)), entrySize)
    },
    async headersFrom(chain: string, seq: number, limit: number): Promise<string[]> {
      const found = await headersIn(SOME_HEADERS, [...(await after(chain, seq)), limit])
      return found.map((row) => rows.bareEntry(chain, row).headerText)
    },
    async head(chain: string): Promise<Head | undefined> {
      const row = await first(headersIn(NEWEST_HEADERS, [...(await places.range(chain, WHOLE_CHAIN)), 1]))
      return row && headOf(rows.bareEntry(chain, row))
    },
    page: pageRead({ run, places, rows }),
  }
}

/** Row that no codec reads. */
function unreadable([at, ts, type, id, , prev, commits]: StoredRow): HeaderRow {
  return [at, ts, type, id, '', prev, commits]
}

/** Reads of parts of a chain, as they are stored. */
export function chainRows({ run, places, rows }: Codec) {
  const read = async (
    chain: string,
    range: SeqRange,
    options: RowOptions = { sections: true },
  ): Promise<Iterable<Row>> => {
    const of = { chain, number: await places.number(chain) }
    const place = await places.range(chain, range)
    if (!options.sections) return (await run.arrays<HeaderRow>(HEADERS, place)).map((row) => storedRow(rows, of, row))
    const found = await run.arrays<StoredRow>(WHOLE, place)
    return found.map((row) => storedRow(rows, of, rowOf(row) ?? unreadable(row)))
  }
  return {
    read,
    async wholeData(chain: string, seq: number): Promise<string | undefined> {
      const [row] = await read(chain, { first: seq, end: seq + 1 })
      return wholeDataOf(row)
    },
  }
}

/** Positions of entries, found without reading them. */
function placeReads(run: Runner, places: ChainPlaces) {
  const end = async (of: Statement, chain: string): Promise<number | undefined> => {
    const row = await first(run.rows<{ at: number }>(of, [...(await places.range(chain, WHOLE_CHAIN)), 1]))
    return row && seqAt(row.at)
  }
  const length = async (chain: string): Promise<number> => ((await end(NEWEST_PLACES, chain)) ?? -1) + 1
  const firstNotBefore = async (chain: string, before: number, atMs: number): Promise<number> => {
    const [, to] = await places.range(chain, { first: 0, end: before })
    const row = await first(run.rows<{ at: number }>(FIRST_NOT_BEFORE, [await places.number(chain), atMs, to]))
    return row === undefined ? before : seqAt(row.at)
  }
  return {
    length,
    first: async (chain: string) => (await end(OLDEST_PLACES, chain)) ?? 0,
    firstNotBefore,
    /** First seq whose time is not before `ts`; one past the head when there is none. */
    seqNotBefore: async (chain: string, ts: string) => firstNotBefore(chain, await length(chain), firstTimeFrom(ts)),
    async seqsOfTypes(chain: string, types: readonly string[], range: SeqRange = WHOLE_CHAIN): Promise<number[]> {
      const place = [await places.number(chain), ...(await places.range(chain, range)), types]
      return (await run.rows<{ seq: number }>(OF_TYPES, place)).map(({ seq }) => seq)
    },
    async typesIndexed(chain: string, range: SeqRange): Promise<Map<string, OfType>> {
      const place = [await places.number(chain), ...(await places.range(chain, range))]
      const found = await run.rows<OfType & { type: string }>(OF_EACH_TYPE, place)
      return new Map(found.map(({ type, ...ofType }) => [type, ofType]))
    },
    async lengths(chains: readonly string[]): Promise<Map<string, number>> {
      const found = await run.rows<{ name: string; at: number }>(LENGTHS, [chains])
      const ends = new Map(found.map(({ name, at }) => [name, seqAt(at) + 1]))
      return new Map(chains.map((chain) => [chain, ends.get(chain) ?? 0]))
    },
    chains: places.chains,
    lanes: places.lanes,
  }
}

/** First time in ms whose text does not sort before this one. */
function firstTimeFrom(ts: string): number {
  return partitionPoint(LAST_TIME_MS + 1, (ms) => formatTimestamp(ms) < ts)
}

const PAGE = { asc: 'at', desc: 'at DESC' }
const pageOf = (filter: string, order: 'asc' | 'desc'): Statement =>
  statement(`SELECT ${COLUMNS} ${RANGE} ${filter} ORDER BY ${PAGE[order]} LIMIT $3 OFFSET $4`)
const PAGES = { asc: pageOf('', 'asc'), desc: pageOf('', 'desc') }
const DECISIONS = { asc: pageOf('AND type IS NULL', 'asc'), desc: pageOf('AND type IS NULL', 'desc') }
const byType = (order: 'asc' | 'desc'): Statement =>
  statement(`SELECT ${COLUMNS} ${OTHERS} AND type = $4 ORDER BY ${PAGE[order]} LIMIT $5 OFFSET $6`)
const BY_TYPE = { asc: byType('asc'), desc: byType('desc') }
const COUNT_OTHERS = statement(`SELECT count(*) AS count ${OTHERS}`)
const COUNT_TYPE = statement(`SELECT count(*) AS count ${OTHERS} AND type = $4`)

function pageRead({ run, places, rows }: Codec) {
  const reads = placeReads(run, places)
  const count = async (of: Statement, values: unknown[]): Promise<number> =>
    (await first(run.rows<{ count: number }>(of, values)))?.count ?? 0
  const rangeOf = async ({ chain, from, to, before, since = 0 }: PageQuery): Promise<SeqRange> => {
    const begin = from === undefined ? await reads.first(chain) : await reads.seqNotBefore(chain, from)
    const end = to === undefined ? await reads.length(chain) : await reads.seqNotBefore(chain, to)
    return { first: Math.max(begin, since), end: before === undefined ? end : Math.min(end, before) }
  }
  return async (query: PageQuery): Promise<{ items: StoredEntry[]; total: number }> => {
    const { chain, order, limit, offset, eventType, sections, maxBytes } = query
    const range = await rangeOf(query)
    const place = await places.range(chain, range)
    const inChain = [await places.number(chain), ...place]
    // Seqs have no gaps, so that what no filter leaves out is not counted.
    const all = Math.max(0, range.end - range.first)
    const isDecision = eventType === 'gate.decision'
    const [total, found] =
      eventType === undefined
        ? [all, await run.arrays<StoredRow>(PAGES[order], [...place, limit, offset])]
        : isDecision
          ? [
              all === 0 ? 0 : all - (await count(COUNT_OTHERS, inChain)),
              await run.arrays<StoredRow>(DECISIONS[order], [...place, limit, offset]),
            ]
          : [
              await count(COUNT_TYPE, [...inChain, eventType]),
              await run.arrays<StoredRow>(BY_TYPE[order], [...inChain, eventType, limit, offset]),
            ]
    return { items: withinBytes(found, maxBytes, (row) => rows.entry(chain, whole(row), sections), entrySize), total }
  }
}

/** Writes of the transaction that commit.ts runs in. */
export function entryWrites({ run, places, rows }: Codec) {
  return {
    append: (entry: StoredEntry, prepared: PreparedEntry, salts: Uint8Array) =>
      run.send(INSERT, parametersOf(rows.rowOf(entry, prepared, salts))),
    /** Erases a section of entries, with its salt. */
    async eraseSections(chain: string, { section, first: begin, last }: RedactionTarget): Promise<void> {
      const erased = erasableSalt(section)
      if (erased === undefined) return
      const { column, offset } = erased
      const references =
        column === 'data' ? ', record = NULL, record_id = NULL, decision = NULL, reported_by = NULL' : ''
      const zeros = `'\\x${'00'.repeat(SALT_BYTES)}'::bytea`
      const erase = statement(
        `UPDATE gate.audit_entry
            SET ${column} = NULL, salts = overlay(salts PLACING ${zeros} FROM ${offset + 1})${references}
          WHERE at >= $1 AND at < $2 AND ${column} IS NOT NULL`,
      )
      run.send(erase, await places.range(chain, { first: begin, end: last + 1 }))
    },
  }
}
