import type { SeqRange } from '../queries.ts'
import type { Row, RowOptions, Source } from '../source.ts'
import { read, type Steps } from '../steps.ts'

/** Limits of the entries in one read: a longer transaction would hold up others that use the store. */
const MIN_CHUNK = 32
const MAX_CHUNK = 512
/** Limit of the sections in a chunk, after which the next one is smaller. An entry may have 1 MiB. */
const CHUNK_CHARACTERS = 2_000_000

/** Ways to look at the rows of a range. */
interface Visitor<T> {
  /** Ends the reading with a result. */
  visit(row: Row): T | undefined
  /** Reads what the next rows need. */
  before?(part: SeqRange): Steps<void>
}

/** Reads the entries first <= seq < end in bounded memory, up to a gap, or to the first result of the visitor. */
export function* eachRow<T>(
  { rows }: Source,
  chain: string,
  range: SeqRange,
  options: RowOptions,
  { visit, before }: Visitor<T>,
): Steps<T | undefined> {
  let chunk = options.sections ? MIN_CHUNK : MAX_CHUNK
  for (let seq = range.first; seq < range.end; ) {
    const part = { first: seq, end: Math.min(range.end, seq + chunk) }
    if (before !== undefined) yield* before(part)
    let found = 0
    let characters = 0
    for (const row of yield* read(rows.read(chain, part, options))) {
      const result = visit(row)
      if (result !== undefined) return result
      found += 1
      characters += row.characters
    }
    // Ends at a gap, which may span many entries.
    if (found === 0) return undefined
    chunk = characters > CHUNK_CHARACTERS ? Math.max(1, chunk >> 1) : Math.min(MAX_CHUNK, chunk << 1)
    seq = part.end
  }
  return undefined
}
