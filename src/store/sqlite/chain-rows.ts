import type { Database } from 'better-sqlite3'
import { COMMIT_LABEL, hashHeader, readHeader, SALT_BYTES, type StoredEntry } from '../../audit/entry.ts'
import { type Committed, sectionFault } from '../../audit/verify.ts'
import { digestOf, formatDigest } from '../../base/digest.ts'

/** Limits of the entries in one read: a longer transaction would hold up others that use the file. */
const MIN_CHUNK = 32
const MAX_CHUNK = 512
/** Limit of the sections in a chunk, after which the next one is smaller. An entry may have 1 MiB. */
const CHUNK_BYTES = 2_000_000

type HeaderRow = [seq: number, header: string, hash: Uint8Array]
type SectionRow = [seq: number, isWhole: number, committed: Buffer | null]

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
export function chainRows(db: Database) {
  const headers = db
    .prepare<[string, number, number], HeaderRow>(
      'SELECT seq, header, hash FROM entry WHERE chain = ? AND seq >= ? AND seq < ? ORDER BY seq',
    )
    .raw()
  // SQLite joins the content that is hashed, which takes a third less time for an entry.
  const sections = db
    .prepare<[string, string, number, number], SectionRow>(
      `SELECT seq, typeof(name) = 'text' AND typeof(json) = 'text' AND typeof(salt) = 'blob' AND length(salt) = ${SALT_BYTES},
              CAST(? || name || char(10) || salt || json AS BLOB)
         FROM section WHERE chain = ? AND seq >= ? AND seq < ? ORDER BY seq, name`,
    )
    .raw()
  const dataAt = db
    .prepare<[string, number], string>("SELECT json FROM section WHERE chain = ? AND seq = ? AND name = 'data'")
    .pluck()

  /**
   * Yields the entries first <= seq < end, up to a gap. An entry damaged beyond reading comes as one with a wrong hash;
   * sections of a missing entry are skipped.
   */
  function* from(chain: string, first: number, end: number, options: RowOptions = { sections: true }): Generator<Row> {
    let chunk = options.sections ? MIN_CHUNK : MAX_CHUNK
    for (let seq = first; seq < end; ) {
      const to = Math.min(end, seq + chunk)
      const parts = options.sections ? sections.all(COMMIT_LABEL, chain, seq, to) : []
      let at = 0
      let bytes = 0
      const found = headers.all(chain, seq, to)
      // Ends at a gap, which may span 2^53 entries.
      if (found.length === 0) return
      for (const row of found) {
        const committed: Committed[] = []
        const contents: Buffer[] = []
        for (let part = parts[at]; part !== undefined && part[0] <= row[0]; part = parts[++at]) {
          const [of, isWhole, content] = part
          bytes += content?.byteLength ?? 0
          if (of !== row[0] || isWhole !== 1 || content === null) continue
          committed.push(committedIn(content))
          contents.push(content)
        }
        yield { entry: entryOf(chain, row), committed, text: (name) => textIn(committed, contents, name) }
      }
      chunk = bytes > CHUNK_BYTES ? Math.max(1, chunk >> 1) : Math.min(MAX_CHUNK, chunk << 1)
      seq = to
    }
  }

  return {
    from,
    /** Section `data` of an entry that is intact, as far as the entry alone shows. */
    wholeData(chain: string, seq: number): string | undefined {
      const [row] = from(chain, seq, seq + 1)
      if (row === undefined || hashHeader(row.entry.headerText) !== row.entry.hash) return undefined
      return sectionFault(row.entry.header, row.committed) === undefined ? dataAt.get(chain, seq) : undefined
    },
  }
}

/** @param content label of commitments, name and line feed, salt, JSON */
function committedIn(content: Buffer): Committed {
  const name = content.toString('latin1', COMMIT_LABEL.length, content.indexOf(LINE_FEED, COMMIT_LABEL.length))
  return { name, commitment: digestOf(content) }
}

function textIn(committed: readonly Committed[], contents: readonly Buffer[], name: string): string | undefined {
  const content = contents[committed.findIndex((section) => section.name === name)]
  return content?.toString('utf8', COMMIT_LABEL.length + Buffer.byteLength(name) + 1 + SALT_BYTES)
}

const LINE_FEED = 10

function entryOf(chain: string, [seq, header, hash]: HeaderRow): StoredEntry {
  return {
    header: readHeader(header) ?? { chain, commits: {}, id: '', prev: '', seq, ts: '', type: '', v: 1 },
    headerText: typeof header === 'string' ? header : '',
    hash: hash instanceof Uint8Array ? formatDigest(hash) : '',
    sections: [],
  }
}
