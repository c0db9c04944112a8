import type { Database } from 'better-sqlite3'
import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import type { RecordedHead } from '../records.ts'
import { headsIn } from '../system-heads.ts'
import type { ChainPlaces } from './places.ts'
import type { PrunedQueries } from './pruned.ts'

/** Finds the newest heads of chains in `_system`, whose own checkpoints sign them. */
export function systemHeadQueries(db: Database, places: ChainPlaces, pruned: PrunedQueries) {
  const data = db.prepare<[number, string], { seq: number; json: string }>(
    `SELECT seq, data AS json FROM audit_entry INDEXED BY entry_by_type
      WHERE chain = ? AND type = 'audit.checkpoint' AND instr(data, ?) > 0 ORDER BY at DESC`,
  )
  /**
   * Newest first. Callers that rely on a head verify `_system` against its checkpoints.
   *
   * @param chain leaves out entries that do not name it, without parsing them
   */
  function* inEntries(chain = ''): Generator<RecordedHead> {
    for (const { seq, json } of data.iterate(places.number(SYSTEM_CHAIN), chain)) yield* headsIn(seq, json)
  }
  /** Heads from pruned entries, as the record of the pruning has them. */
  function inRecord(): RecordedHead[] {
    const record = pruned.record(SYSTEM_CHAIN)
    return record === undefined ? [] : record.prune.heads.map((head) => ({ seq: record.seq, ...head }))
  }
  function* all(chain?: string): Generator<RecordedHead> {
    yield* inEntries(chain)
    yield* inRecord()
  }
  return {
    /** The newest head, and the newest before `end`: later ones are unsigned, and anybody may have written them. */
    of(chain: string, end: number): RecordedHead[] {
      const found: RecordedHead[] = []
      for (const head of all(chain)) {
        if (head.chain !== chain) continue
        if (found.length === 0 || head.seq < end) found.push(head)
        if (head.seq < end) break
      }
      return found
    },
    /** Newest head of each chain from an entry before `end`, or from a pruned one. */
    before(end: number): Omit<RecordedHead, 'seq'>[] {
      const heads = new Map<string, Omit<RecordedHead, 'seq'>>()
      const own = [...inEntries()].filter(({ seq }) => seq < end)
      for (const { chain, size, root } of [...own, ...inRecord()])
        if (!heads.has(chain)) heads.set(chain, { chain, size, root })
      return [...heads.values()]
    },
    /** Chains that were signed at any time. */
    chains(): Set<string> {
      // One name at a time: the heads are as many as all checkpoints ever made.
      const found = new Set<string>()
      for (const { chain } of all()) found.add(chain)
      return found
    },
  }
}
