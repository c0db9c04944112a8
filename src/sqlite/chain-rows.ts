import type { Database } from 'better-sqlite3'
import { hashHeader, readHeader, type Section, type StoredEntry } from '../audit/chain.ts'
import { sectionFault } from '../audit/verify.ts'
import { formatDigest } from '../base/digest.ts'

/** Entries that are read before others have their turn on the file: no transaction is held for longer. */
const MIN_CHUNK = 32
const MAX_CHUNK = 512
/** Of the texts of a chunk: the next one is smaller when this is exceeded. An entry may have 1 MiB. */
const CHUNK_CHARACTERS = 2_000_000

type HeaderRow = [seq: number, header: string, hash: Uint8Array]
type SectionRow = [seq: number, name: string, salt: Uint8Array, json: string]

export interface RowOptions {
  /** False leaves the sections of entries out, and is three times as quick. */
  sections: boolean
}

/** Reads a chain as it is stored, in order and in memory that does not grow with it. */
export function chainRows(db: Database) {
  const headers = db
    .prepare<[string, number, number], HeaderRow>(
      'SELECT seq, header, hash FROM entry WHERE chain = ? AND seq >= ? AND seq < ? ORDER BY seq',
    )
    .raw()
  const sections = db
    .prepare<[string, number, number], SectionRow>(
      'SELECT seq, name, salt, json FROM section WHERE chain = ? AND seq >= ? AND seq < ? ORDER BY seq, name',
    )
    .raw()
  const rows = {
    /**
     * The entries first <= seq < end that there are, up to a gap. What is too damaged to be an entry comes as one that does not hash to what
     * it should; what is stored beside an entry that is missing is passed over.
     */
    *from(chain: string, first: number, end: number, options: RowOptions = { sections: true }): Generator<StoredEntry> {
      let chunk = options.sections ? MIN_CHUNK : MAX_CHUNK
      for (let seq = first; seq < end; ) {
        const to = Math.min(end, seq + chunk)
        const parts = options.sections ? sections.all(chain, seq, to) : []
        let at = 0
        let characters = 0
        const found = headers.all(chain, seq, to)
        // Nobody waits for what stands behind a gap, which may be of 2^53 entries.
        if (found.length === 0) return
        for (const row of found) {
          const own: Section[] = []
          for (let part = parts[at]; part !== undefined && part[0] <= row[0]; part = parts[++at]) {
            const [of, name, salt, json] = part
            characters += json?.length ?? 0
            if (of === row[0]) own.push({ name, salt, json })
          }
          yield entryOf(chain, row, own)
        }
        chunk = characters > CHUNK_CHARACTERS ? Math.max(1, chunk >> 1) : Math.min(MAX_CHUNK, chunk << 1)
        seq = to
      }
    },
  }
  return {
    ...rows,
    /** The section `data` of an entry that is what was written, as far as the entry alone tells. */
    wholeData(chain: string, seq: number): string | undefined {
      const [entry] = rows.from(chain, seq, seq + 1)
      const isWhole =
        entry !== undefined && hashHeader(entry.headerText) === entry.hash && sectionFault(entry) === undefined
      return isWhole ? entry.sections.find(({ name }) => name === 'data')?.json : undefined
    },
  }
}

function entryOf(chain: string, [seq, header, hash]: HeaderRow, sections: Section[]): StoredEntry {
  return {
    header: readHeader(header) ?? { chain, commits: {}, id: '', prev: '', seq, ts: '', type: '', v: 1 },
    headerText: typeof header === 'string' ? header : '',
    hash: hash instanceof Uint8Array ? formatDigest(hash) : '',
    sections: sections.filter(isWhole),
  }
}

function isWhole({ name, salt, json }: Section): boolean {
  return typeof name === 'string' && salt instanceof Uint8Array && typeof json === 'string'
}
