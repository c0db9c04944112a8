import { commitment, type Header, hashHeader, SALT_BYTES, type Section, type StoredEntry } from '../audit/entry.ts'
import { sectionFault } from '../audit/verify.ts'
import { GateError } from '../base/errors.ts'
import type { EntryRow, EntryRows, HeaderRow } from './entry-row.ts'
import { numberAt, seqAt } from './places.ts'
import type { Row } from './source.ts'

/** The row of an entry, as it is stored: one damaged beyond reading gives an entry with a wrong hash. */
export function storedRow(
  rows: EntryRows,
  { chain, number }: { chain: string; number: number },
  row: HeaderRow | EntryRow,
): Row {
  const sections = isWithContent(row) ? readable([], () => rows.sections(chain, row)) : []
  const seq = seqAt(row[0])
  const header: Header = { chain, commits: {}, id: '', prev: '', seq, ts: '', type: '', v: 1 }
  const beyondReading: StoredEntry = { header, headerText: '', hash: '', sections: [] }
  // A damaged page can give a row in the order of one chain and with the number of another.
  const isOfChain = numberAt(row[0]) === number
  return {
    entry: isOfChain ? readable(beyondReading, () => rows.bareEntry(chain, row)) : beyondReading,
    characters: sections.reduce((sum, { json }) => sum + json.length, 0),
    committed: sections.filter(isSalted).map((section) => ({ name: section.name, commitment: commitment(section) })),
    text: (name) => sections.find((section) => section.name === name)?.json,
  }
}

/** Section `data` of an entry that is intact, as far as the entry alone shows. */
export function wholeDataOf(row: Row | undefined): string | undefined {
  if (row === undefined || hashHeader(row.entry.headerText) !== row.entry.hash) return undefined
  return sectionFault(row.entry.header, row.committed) === undefined ? row.text('data') : undefined
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
