import type { Database } from 'better-sqlite3'
import { commitment, type Header, hashHeader, SALT_BYTES, type Section, type StoredEntry } from '../../audit/entry.ts'
import { type Committed, sectionFault } from '../../audit/verify.ts'
import { GateError } from '../../base/errors.ts'
import type { SeqRange } from '../queries.ts'
import { COLUMNS, type EntryRow, type EntryRows, HEADER_COLUMNS, type HeaderRow } from './entry-row.ts'
import { type ChainPlaces, numberAt, seqAt } from './places.ts'

/** Limits of the entries in one read: a longer transaction would hold up others that use the file. */
const MIN_CHUNK = 32
const MAX_CHUNK = 512
/** Limit of the sections in a chunk, after which the next one is smaller. An entry may have 1 MiB. */
const CHUNK_CHARACTERS = 2_000_000

export interface RowOptions {
  /** False skips the sections of entries, which is three times as fast. */
  sections: boolean
}

/** Stored entry, with the commitments of its sections. */
export interface Row {
  entry: StoredEntry
  committed: readonly Committed[]
  /** Text of a section; undefined without one. */
  text(name: string): string | undefined
}

/** Reads a chain in order, as it is stored, in bounded memory. */
export function chainRows(db: Database, places: ChainPlaces, rows: EntryRows) {
  const between = (columns: string) => `SELECT ${columns} FROM audit_entry WHERE at >= ? AND at < ? ORDER BY at`
  const whole = db.prepare<[number, number], EntryRow>(between(COLUMNS)).raw()
  const headers = db.prepare<[number, number], HeaderRow>(between(HEADER_COLUMNS)).raw()

  /** Yields the entries first <= seq < end, up to a gap. An entry damaged beyond reading comes as one with a wrong hash. */
  function* from(chain: string, range: SeqRange, options: RowOptions = { sections: true }): Generator<Row> {
    let chunk = options.sections ? MIN_CHUNK : MAX_CHUNK
    for (let seq = range.first; seq < range.end; ) {
      const end = Math.min(range.end, seq + chunk)
      const place = places.range(chain, { first: seq, end })
      let characters = 0
      let found = 0
      for (const row of options.sections ? whole.all(...place) : headers.all(...place)) {
        const sections = isWithContent(row) ? readable([], () => rows.sections(chain, row)) : []
        for (const { json } of sections) characters += json.length
        found += 1
        yield rowOf(chain, row, sections)
      }
      // Ends at a gap, which may span many entries.
      if (found === 0) return
      chunk = characters > CHUNK_CHARACTERS ? Math.max(1, chunk >> 1) : Math.min(MAX_CHUNK, chunk << 1)
      seq = end
    }
  }

  function rowOf(chain: string, row: HeaderRow, sections: readonly Section[]): Row {
    const seq = seqAt(row[0])
    const header: Header = { chain, commits: {}, id: '', prev: '', seq, ts: '', type: '', v: 1 }
    const beyondReading: StoredEntry = { header, headerText: '', hash: '', sections: [] }
    // A damaged page can give a row in the order of one chain and with the number of another.
    const isOfChain = numberAt(row[0]) === places.number(chain)
    return {
      entry: isOfChain ? readable(beyondReading, () => rows.bareEntry(chain, row)) : beyondReading,
      committed: sections.filter(isSalted).map((section) => ({ name: section.name, commitment: commitment(section) })),
      text: (name) => sections.find((section) => section.name === name)?.json,
    }
  }

  return {
    from,
    /** Section `data` of an entry that is intact, as far as the entry alone shows. */
    wholeData(chain: string, seq: number): string | undefined {
      const [row] = from(chain, { first: seq, end: seq + 1 })
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
