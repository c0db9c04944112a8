import type { Awaitable } from '../steps.ts'
import { type CopiedRow, type CopiedTable, keyOf } from './copied-tables.ts'
import type { CopiedEntry, Side } from './side.ts'

const MIN_ROWS = 32
const MAX_ROWS = 512
/** Limit of the texts in a part, after which the next one is smaller. A row may have 1 MiB, a set of policies more. */
const PART_CHARACTERS = 2_000_000

type Reading<R> = (after: R | undefined, limit: number) => Awaitable<R[]>

/** Reads rows in parts that bound the memory. */
async function* pages<R extends readonly unknown[]>(
  read: Reading<R>,
  smallest: number,
): AsyncGenerator<R[], undefined> {
  let limit = smallest
  for (let last: R | undefined; ; ) {
    const rows = await read(last, limit)
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
    last = rows.at(-1)
    const isLarge = charactersIn(rows) > PART_CHARACTERS
    limit = isLarge ? Math.max(1, limit >> 1) : Math.min(MAX_ROWS, limit << 1)
  }
}

function charactersIn(rows: readonly (readonly unknown[])[]): number {
  let sum = 0
  for (const row of rows) for (const value of row) if (typeof value === 'string') sum += value.length
  return sum
}

/** Rows of a table, in the order of their keys. */
export function tablePages(side: Side, table: CopiedTable): AsyncGenerator<CopiedRow[], undefined> {
  return pages((last, limit) => side.rows(table, last && keyOf(table, last), limit), 1)
}

/** Entries of a chain from this seq on. */
export function entryPages(side: Side, chain: string, seq: number): AsyncGenerator<CopiedEntry[], undefined> {
  return pages((last, limit) => side.entries(chain, last === undefined ? seq : last[0] + 1, limit), MIN_ROWS)
}
