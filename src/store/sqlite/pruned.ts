import type { Database } from 'better-sqlite3'
import { type Prune, readPrune } from '../../evidence/prune.ts'
import type { chainRows } from './chain-rows.ts'
import type { entryQueries } from './entries.ts'
import type { ChainPlaces } from './places.ts'
import type { SharedTexts } from './shared-text.ts'

interface Reads {
  entries: ReturnType<typeof entryQueries>
  rows: ReturnType<typeof chainRows>
  places: ChainPlaces
  texts: SharedTexts
}

/** Statements over pruned. Only commit.ts writes, inside its transaction. */
export function prunedQueries(db: Database, { entries, rows, places, texts }: Reads) {
  const size = db.prepare<[string], number>('SELECT size FROM pruned WHERE chain = ?').pluck()
  const put = db.prepare<[string, number]>(
    'INSERT INTO pruned (chain, size) VALUES (?, ?) ON CONFLICT (chain) DO UPDATE SET size = excluded.size',
  )
  const deletion = db.prepare<[number, number]>('DELETE FROM audit_entry WHERE at >= ? AND at < ?')
  return {
    /** First seq of the chain: the entries before it were pruned. */
    size: (chain: string) => size.get(chain) ?? 0,
    /** Newest record of a pruning, when its entry is intact; the caller checks whether it is signed. */
    record(chain: string): { seq: number; prune: Prune } | undefined {
      const seq = entries.seqsOfTypes(chain, ['audit.prune']).at(-1)
      const data = seq === undefined ? undefined : rows.wholeData(chain, seq)
      const prune = data === undefined ? undefined : readPrune(data)
      return seq === undefined || prune === undefined ? undefined : { seq, prune }
    },
    /** Deletes the entries before `to`, with which the chain then begins. */
    prune(chain: string, to: number): void {
      put.run(chain, to)
      deletion.run(...places.range(chain, { first: 0, end: to }))
      texts.prune(places.number(chain), to)
    },
  }
}

export type PrunedQueries = ReturnType<typeof prunedQueries>
