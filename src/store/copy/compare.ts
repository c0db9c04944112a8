import { isDeepStrictEqual } from 'node:util'
import { AlteredFile } from '../errors.ts'
import { COPIED, COPIED_TABLES, type CopiedRow, type CopiedTable } from './copied-tables.ts'
import { entryPages, tablePages } from './pages.ts'
import type { ChainEnds, CopiedEntry, Side } from './side.ts'

/** Requires both sides to have the same chains, up to the same entries with the same seals. @throws AlteredFile */
export function assertSameEnds(
  ends: readonly ChainEnds[],
  of: string,
  others: readonly ChainEnds[],
  than: string,
): void {
  const known = new Map(others.map((other) => [other.name, other]))
  for (const end of ends) {
    if (!isDeepStrictEqual(end, known.get(end.name))) throw differing(`audit chain ${end.name}`, of, than)
    known.delete(end.name)
  }
  for (const [name] of known) throw differing(`audit chain ${name}`, of, than)
}

/** Requires both sides to have the same instance, chains and rows. Entries follow from the hashes. @throws AlteredFile */
export async function assertSame(a: Side, b: Side): Promise<void> {
  if (!isDeepStrictEqual(await a.instance(), await b.instance())) throw differing('the instance', b.name, a.name)
  assertSameEnds(await b.ends(), b.name, await a.ends(), a.name)
  for (const table of COPIED_TABLES) await assertSameRows(table, a, b)
}

async function assertSameRows(table: CopiedTable, a: Side, b: Side): Promise<void> {
  const others = rowsOf(b, table)
  for await (const row of rowsOf(a, table)) {
    const { value: other } = await others.next()
    if (!isDeepStrictEqual(row.map(plain), other?.map(plain))) throw differing(whatOf(table, row), b.name, a.name)
  }
  const { value: more } = await others.next()
  if (more !== undefined) throw differing(whatOf(table, more), b.name, a.name)
}

async function* rowsOf(side: Side, table: CopiedTable): AsyncGenerator<CopiedRow, undefined> {
  for await (const rows of tablePages(side, table)) yield* rows
}

/**
 * Requires the entries of a target to be those of the source, up to its end: content may have been erased from the
 * source since, which no hash shows.
 *
 * @throws AlteredFile naming the entry
 */
export async function assertSameEntries(
  source: Side,
  target: Side,
  { name, first }: ChainEnds,
  at: (done: number) => void,
): Promise<void> {
  const others = entriesOf(source, name, first)
  for await (const entry of entriesOf(target, name, first)) {
    const { value: other } = await others.next()
    const [seq] = entry
    if (!isDeepStrictEqual(entry.map(plain), other?.map(plain)))
      throw differing(`entry ${seq} of ${name}`, target.name, source.name)
    at(seq + 1 - first)
  }
  await others.return(undefined)
}

async function* entriesOf(side: Side, chain: string, first: number): AsyncGenerator<CopiedEntry, undefined> {
  for await (const entries of entryPages(side, chain, first)) yield* entries
}

/** Bytes of the two drivers have different prototypes. */
const plain = (value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value)

function whatOf(table: CopiedTable, row: CopiedRow): string {
  return `row ${row.slice(0, COPIED[table].key.length).join(' ')} of the table ${table}`
}

function differing(what: string, of: string, than: string): AlteredFile {
  return new AlteredFile(
    `In ${of}, ${what} is not as in ${than}: one of them was altered, or appended to, meanwhile. Remove the copy, and begin again.`,
  )
}
