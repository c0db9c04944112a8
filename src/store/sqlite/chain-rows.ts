import type { Database } from 'better-sqlite3'
import { commitment, type Header, hashHeader, SALT_BYTES, type Section, type StoredEntry } from '../../audit/entry.ts'
import { sectionFault } from '../../audit/verify.ts'
import { GateError } from '../../base/errors.ts'
import type { SeqRange } from '../queries.ts'
import type { Row, RowOptions } from '../source.ts'
import { COLUMNS, type EntryRow, type EntryRows, HEADER_COLUMNS, type HeaderRow } from './entry-row.ts'
import { type ChainPlaces, numberAt, seqAt } from './places.ts'

/** Reads parts of a chain, as they are stored. */
export function chainRows(db: Database, places: ChainPlaces, rows: EntryRows) {
  const between = (columns: string) => `SELECT ${columns} FROM audit_entry WHERE at >= ? AND at < ? ORDER BY at`
  const whole = db.prepare<[number, number], EntryRow>(between(COLUMNS)).raw()
  const headers = db.prepare<[number, number], HeaderRow>(between(HEADER_COLUMNS)).raw()

  // One at a time: what is made of a row is larger than the row, and short-lived.
  function* read(chain: string, range: SeqRange, options: RowOptions = { sections: true }): Generator<Row> {
    const place = places.range(chain, range)
    for (const row of options.sections ? whole.all(...place) : headers.all(...place)) yield rowOf(chain, row)
  }

  function rowOf(chain: string, row: HeaderRow | EntryRow): Row {
    const sections = isWithContent(row) ? readable([], () => rows.sections(chain, row)) : []
    const seq = seqAt(row[0])
    const header: Header = { chain, commits: {}, id: '', prev: '', seq, ts: '', type: '', v: 1 }
    const beyondReading: StoredEntry = { header, headerText: '', hash: '', sections: [] }
    // A damaged page can give a row in the order of one chain and with the number of another.
    const isOfChain = numberAt(row[0]) === places.number(chain)
    return {
      entry: isOfChain ? readable(beyondReading, () => rows.bareEntry(chain, row)) : beyondReading,
      characters: sections.reduce((sum, { json }) => sum + json.length, 0),
      committed: sections.filter(isSalted).map((section) => ({ name: section.name, commitment: commitment(section) })),
      text: (name) => sections.find((section) => section.name === name)?.json,
    }
  }

  return {
    read,
    wholeData(chain: string, seq: number): string | undefined {
      const [row] = read(chain, { first: seq, end: seq + 1 })
      if (row === undefined || hashHeader(row.entry.headerText) !== row.entry.hash) return undefined
      return sectionFault(row.entry.header, row.committed) === undefined ? row.text('data') : undefined
    },
  }
}

function isWithContent(row: HeaderRow | EntryRow): row is EntryRow {
  return row.length > 7
}

const isSalted = ({ salt }: Section): boolean => salt.byteLength === SALT_BYTES

/** The value read, or `otherwise` where the row is damaged beyond reading. */
function readable<T>(otherwise: T, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof GateError) return otherwise
    throw error
  }
}
