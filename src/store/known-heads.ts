import type { Head } from '../audit/chain.ts'
import type { Source } from './source.ts'
import { read, type Steps } from './steps.ts'
import type { WrittenHashes } from './store.ts'
import type { Placed, PreparedSubmission } from './submission.ts'
import { cutOff } from './verify/seals.ts'

/** Time for which heads are looked at again; later a checkpoint covers them. */
const LOOKED_AFTER_MS = 60_000
/** Hashes that are kept of a chain: more than a busy service writes between two checkpoints. */
const MAX_HASHES = 8192

/** Ends of chains that this process wrote, which nothing else remembers: they never go back. */
export function knownHeads() {
  const known = new Map<string, { head: Head; atMs: number }>()
  const altered = new Map<string, string>()
  const hashes = new Map<string, { first: number; hashes: string[] }>()
  const keepHash = ({ chain, seq, hash }: Placed): void => {
    const kept = hashes.get(chain)
    if (kept === undefined || kept.first + kept.hashes.length !== seq)
      return void hashes.set(chain, { first: seq, hashes: [hash] })
    kept.hashes.push(hash)
    if (kept.hashes.length <= MAX_HASHES) return
    kept.hashes = kept.hashes.slice(MAX_HASHES / 2)
    kept.first += MAX_HASHES / 2
  }
  return {
    /** The newest heads of the chains that these submissions append to. */
    of(submissions: readonly PreparedSubmission[]): Map<string, Head> {
      const heads = new Map<string, Head>()
      for (const { entries } of submissions)
        for (const { chain } of entries) {
          const one = known.get(chain)
          if (one !== undefined) heads.set(chain, one.head)
        }
      return heads
    },
    written(heads: ReadonlyMap<string, Head>, entries: readonly Placed[]): void {
      const atMs = performance.now()
      for (const entry of entries) keepHash(entry)
      for (const [chain, head] of heads) {
        known.set(chain, { head, atMs })
        altered.delete(chain)
      }
    },
    hashesFrom(chain: string, from: number): WrittenHashes | undefined {
      const kept = hashes.get(chain)
      if (kept !== undefined && from > kept.first) {
        kept.hashes = kept.hashes.slice(from - kept.first)
        kept.first = from
      }
      return kept
    },
    /** Notes what was found about a chain; an append to it takes that back. */
    note: (chain: string, fault: string): void => void altered.set(chain, fault),
    /** Compares the chains that were written lately with the store. */
    *compare({ entries }: Source): Steps<void> {
      const sinceMs = performance.now() - LOOKED_AFTER_MS
      for (const [chain, { head, atMs }] of known)
        if (atMs >= sinceMs && (yield* read(entries.length(chain))) <= head.seq)
          altered.set(chain, cutOff(chain, head.seq).message)
    },
    altered: (): ReadonlyMap<string, string> => altered,
  }
}
