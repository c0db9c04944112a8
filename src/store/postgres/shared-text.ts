import { boundedCache } from '../../base/bounded-cache.ts'
import { placeOf } from '../places.ts'
import { type Runner, statement } from './database.ts'

/** Entries of a chain that may share a text: it is deleted when all of them are pruned. */
export const SHARED_BY = 100_000
/** Texts that a sidecar keeps. */
const KEPT = 2000
/** Room for the texts that one entry is the first to share. */
const ROOM = 4n

const INSERT = statement('INSERT INTO gate.shared_text (number, text) VALUES ($1, $2)')

/** A text of an entry `e` in SQL: its own, or the one that it shares. */
export const sharedText = (column: string): string =>
  `coalesce(${column}, (SELECT text FROM gate.shared_text AS s
     WHERE s.number = ${column}_number AND s.number / ${ROOM} BETWEEN e.at - ${SHARED_BY - 1} AND e.at))`

/** Number of the first text that the entry at a place may be the first to share. */
export const firstTextOf = (chain: number, seq: number): bigint => BigInt(placeOf(chain, seq)) * ROOM

/** A text that came once, or has a number. */
interface Written {
  number: bigint | undefined
  since: number
}

/**
 * Texts that entries share. A chain has texts of its own, so that nothing of a pruned entry stays. A text is shared when
 * it comes a second time: many never do.
 */
export function sharedTexts() {
  let written = boundedCache<Written>(KEPT)
  let next = 0n
  const insert = (run: Runner, chain: number, seq: number, text: string): bigint => {
    const least = firstTextOf(chain, seq)
    const number = next > least && next < least + ROOM ? next : least
    next = number + 1n
    run.send(INSERT, [number, text])
    return number
  }
  return {
    /** Stand-in for the text in the entry of this seq of a chain. */
    stored(run: Runner, chain: number, seq: number, text: string): string | bigint {
      const key = `${chain} ${text}`
      const before = written.get(key)
      const isGood = before?.number !== undefined && seq < before.since + SHARED_BY
      const now = isGood ? before : { number: before && insert(run, chain, seq, text), since: seq }
      // Put again, it is the newest.
      written.put(key, now)
      return now.number ?? text
    },
    /** Drops what is known of texts, which a rollback may have unmade. */
    forget(): void {
      written = boundedCache(KEPT)
    },
  }
}

export type SharedTexts = ReturnType<typeof sharedTexts>
