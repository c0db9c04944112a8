import type { Database } from 'better-sqlite3'
import { laneNames } from '../../audit/chain.ts'
import { placeOf, ROOM } from '../places.ts'
import type { SeqRange } from '../queries.ts'

/** Seq of an entry in SQL, from an index alone: the generated column `seq` would read the row. */
export const SEQ = `(at & ${ROOM - 1})`

/** Limit of a query. SQLite reads a bare parameter when it plans, and so plans the query anew at each use. */
export const LIMIT = 'LIMIT ? + 0'

/** Condition on the table `chain`: the chains of a trail, by the parameters that `trailNames` gives. */
export const OF_TRAIL = '(chain.name = ? OR (chain.name > ? AND chain.name < ?))'

/** Places of entries in audit_entry, by the numbers of their chains. Only commit.ts makes chains, inside its transaction. */
export function chainPlaces(db: Database) {
  const numberOf = db.prepare<[string], number>('SELECT number FROM chain WHERE name = ?').pluck()
  const nameOf = db.prepare<[number], string>('SELECT name FROM chain WHERE number = ?').pluck()
  const insert = db.prepare<[string], number>('INSERT INTO chain (name) VALUES (?) RETURNING number').pluck()
  // Seeks once for each chain, instead of scanning its rows.
  const withEntries = `EXISTS (SELECT 1 FROM audit_entry WHERE at >= (number << 33) AND at < ((number + 1) << 33))`
  const named = db.prepare<[], string>(`SELECT name FROM chain WHERE ${withEntries} ORDER BY name`).pluck()
  const ofTrail = db
    .prepare<[string, string, string], string>(
      `SELECT name FROM chain WHERE ${OF_TRAIL} AND ${withEntries} ORDER BY name`,
    )
    .pluck()
  const unnamed = db
    .prepare<[], number>(
      `WITH RECURSIVE found (number) AS (
         SELECT min(at) >> 33 FROM audit_entry
         UNION ALL
         SELECT (SELECT min(at) >> 33 FROM audit_entry WHERE at >= ((found.number + 1) << 33)) FROM found
           WHERE found.number IS NOT NULL
       )
       SELECT number FROM found WHERE number IS NOT NULL AND number NOT IN (SELECT number FROM chain) LIMIT 1`,
    )
    .pluck()
  const numbers = new Map<string, number>()
  /** Number of a chain; 0, where nothing lies, for one that has none. */
  const number = (chain: string): number => {
    const known = numbers.get(chain) ?? numberOf.get(chain) ?? 0
    if (known !== 0) numbers.set(chain, known)
    return known
  }
  return {
    number,
    /** Number of a chain, which is made with its first entry. */
    made(chain: string): number {
      const known = number(chain) || (insert.get(chain) ?? 0)
      numbers.set(chain, known)
      return known
    },
    name: (ofNumber: number) => nameOf.get(ofNumber),
    /** Place of an entry; one where nothing lies for a seq out of range. */
    at: (chain: string, seq: number): number => (seq >= 0 && seq < ROOM ? placeOf(number(chain), seq) : -1),
    /** The places `from` <= at < `to`. */
    range: (chain: string, { first, end }: SeqRange): [from: number, to: number] => [
      placeOf(number(chain), first),
      placeOf(number(chain), end),
    ],
    /** Chains that have entries. */
    chains: () => named.all(),
    /** Chains of a trail that have entries. */
    lanes: (trail: string) => ofTrail.all(trail, ...laneNames(trail)),
    /** Number of a chain that has entries and no name. */
    unnamed: () => unnamed.get(),
    /** Drops what is known of chains, which a rollback may have unmade or another process altered. */
    forget: () => numbers.clear(),
  }
}

export type ChainPlaces = ReturnType<typeof chainPlaces>
