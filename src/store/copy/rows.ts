import { encodeHex } from '../../base/bytes.ts'
import type { EntryRow, TextOrNumber } from '../entry-row.ts'
import { placeOf, seqAt } from '../places.ts'
import type { ChainEnds, CopiedEntry } from './side.ts'

/** Columns of a row whose texts entries share. */
const [GROUNDS, RISK] = [16, 17] as const

/** Gives another form of a text that the entry of this seq shares. */
type Form<T> = (stored: T, seq: number) => TextOrNumber

/** The row as it is copied, with the texts for which its numbers stand. */
export function copiedOf(row: EntryRow, text: Form<TextOrNumber | number>): CopiedEntry {
  const seq = seqAt(row[0])
  return changed(row, seq, (stored) => text(stored, seq))
}

/** The row of a copied entry in a chain of this number, with what stands for its texts. */
export function placed(entry: CopiedEntry, number: number, stored: Form<string>): EntryRow {
  const [seq] = entry
  return changed(entry, placeOf(number, seq), (text) => stored(String(text), seq))
}

function changed(row: EntryRow, at: number, form: (stored: TextOrNumber | number) => TextOrNumber): EntryRow {
  const other = (column: typeof GROUNDS | typeof RISK): TextOrNumber | null => {
    const stored = row[column]
    return stored === null ? null : form(stored)
  }
  return row.with(0, at).with(GROUNDS, other(GROUNDS)).with(RISK, other(RISK)) as unknown as EntryRow
}

/** A chain and its ends as both engines select them. */
export interface EndRow extends Pick<ChainEnds, 'name' | 'hash' | 'pruned'> {
  oldest: number | null
  newest: number | null
  size: number | null
  key: string | null
  mac: Uint8Array | null
}

export function endsOf({ name, hash, pruned, oldest, newest, size, key, mac }: EndRow): ChainEnds {
  return {
    name,
    first: oldest === null ? 0 : seqAt(oldest),
    length: newest === null ? 0 : seqAt(newest) + 1,
    hash,
    pruned,
    seal: size === null || key === null || mac === null ? null : [size, key, encodeHex(mac)],
  }
}
