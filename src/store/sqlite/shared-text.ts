import type { Database } from 'better-sqlite3'
import { boundedCache } from '../../base/bounded-cache.ts'
import type { TextOrNumber } from '../entry-row.ts'

/** Entries of a chain that may share a text: it is deleted when all of them are pruned. */
const SHARED_BY = 100_000
/** Texts that a connection keeps. */
const KEPT = 2000

/** A text, by what it is looked up by. */
interface Shared {
  number: number
  chain: number
  since: number
  text: string
}

/** A text that came once, or has a number. */
interface Written {
  number: number | undefined
  since: number
}

/**
 * Statements over shared_text. A chain has texts of its own, so that nothing of a pruned entry stays.
 * Only commit.ts writes, inside its transaction.
 */
export function sharedTexts(db: Database) {
  const insert = db
    .prepare<[number, number, string], number>(
      'INSERT INTO shared_text (chain, since, text) VALUES (?, ?, ?) RETURNING number',
    )
    .pluck()
  const read = db.prepare<[number], Shared>('SELECT number, chain, since, text FROM shared_text WHERE number = ?')
  const deletion = db.prepare<[number, number]>('DELETE FROM shared_text WHERE chain = ? AND since <= ?')
  let written = boundedCache<Written>(KEPT)
  let known = boundedCache<Shared, number>(KEPT)
  return {
    /**
     * Stand-in for the text in the entry of this seq of a chain. A text is shared when it comes a second time: many
     * never do.
     */
    stored(chain: number, seq: number, text: string): TextOrNumber {
      const key = `${chain} ${text}`
      const before = written.get(key)
      const isGood = before?.number !== undefined && seq < before.since + SHARED_BY
      const now = isGood ? before : { number: before && insert.get(chain, seq, text), since: seq }
      // Put again, it is the newest.
      written.put(key, now)
      return now.number === undefined ? text : BigInt(now.number)
    },
    /** The text for which `stored` stands in the entry of this seq of a chain; undefined when the file was altered. */
    text(chain: number, seq: number, stored: TextOrNumber | number): string | undefined {
      if (typeof stored === 'string') return stored
      const number = Number(stored)
      const cached = known.get(number)
      const shared = cached ?? read.get(number)
      if (shared === undefined) return undefined
      if (cached === undefined) known.put(number, shared)
      const { since, text } = shared
      return shared.chain === chain && seq >= since && seq < since + SHARED_BY ? text : undefined
    },
    /** Deletes the texts that only entries before `size` may have. */
    prune: (chain: number, size: number) => deletion.run(chain, size - SHARED_BY),
    /** Drops what is known of texts, which a rollback may have unmade or another process altered. */
    forget(): void {
      written = boundedCache(KEPT)
      known = boundedCache(KEPT)
    },
  }
}

export type SharedTexts = ReturnType<typeof sharedTexts>
