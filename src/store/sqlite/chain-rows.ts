import type { Database } from 'better-sqlite3'
import type { EntryRow, EntryRows, HeaderRow } from '../entry-row.ts'
import type { SeqRange } from '../queries.ts'
import type { Row, RowOptions } from '../source.ts'
import { storedRow, wholeDataOf } from '../stored-row.ts'
import { COLUMNS, HEADER_COLUMNS } from './columns.ts'
import type { ChainPlaces } from './places.ts'

/** Reads parts of a chain, as they are stored. */
export function chainRows(db: Database, places: ChainPlaces, rows: EntryRows) {
  const between = (columns: string) => `SELECT ${columns} FROM audit_entry WHERE at >= ? AND at < ? ORDER BY at`
  const whole = db.prepare<[number, number], EntryRow>(between(COLUMNS)).raw()
  const headers = db.prepare<[number, number], HeaderRow>(between(HEADER_COLUMNS)).raw()

  // One at a time: what is made of a row is larger than the row, and short-lived.
  function* read(chain: string, range: SeqRange, options: RowOptions = { sections: true }): Generator<Row> {
    const place = places.range(chain, range)
    const of = { chain, number: places.number(chain) }
    for (const row of options.sections ? whole.all(...place) : headers.all(...place)) yield storedRow(rows, of, row)
  }

  return {
    read,
    wholeData(chain: string, seq: number): string | undefined {
      const [row] = read(chain, { first: seq, end: seq + 1 })
      return wholeDataOf(row)
    },
  }
}
