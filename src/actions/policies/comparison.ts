import { setImmediate as nextTurn } from 'node:timers/promises'
import { boundedCache } from '../../base/bounded-cache.ts'
import { serialByKey } from '../../base/concurrency.ts'
import { countNote, SHADOW_FAILURES, type ShadowNote, type ShadowTally } from '../../gate/shadow.ts'
import type { Decision } from '../../policies/set.ts'
import { oldestOf } from '../../store/bounds.ts'
import type { DecisionRow } from '../../store/queries.ts'
import type { Store } from '../../store/store.ts'

/** Limit of trails whose counts are kept, to go on from them. */
const MAX_TRAILS = 100
/** Entries that are read before other work runs, and in one call: it takes a fifth of a second. */
const ENTRIES_AT_ONCE = 500
const ENTRIES_OF_A_CALL = 50_000

/** A set in shadow beside the decisions of a trail. */
export interface Comparison extends ShadowTally {
  /** Decisions that the set was asked about. */
  decisions: number
  /** False while older entries than the newest are still to be counted: the next call goes on. */
  complete: boolean
}

interface Counted extends ShadowTally {
  /** Digest of the set, the time from which its decisions count, and the extent of what was pruned. */
  name: string
  /** The next seq of each chain. */
  next: Map<string, number>
}

export type CompareShadow = ReturnType<typeof shadowComparer>

/** Counts what a set in shadow said, by the entries of the trail, and goes on from what was counted before. */
export function shadowComparer(store: Store) {
  const cache = boundedCache<Counted>(MAX_TRAILS)
  const serial = serialByKey()
  // Readers of several trails run one after another, so that many delay other work no longer than one does.
  const breathe = (): Promise<void> => serial('', () => nextTurn())

  /** @param since timestamp in our form: decisions before it do not count */
  return (trail: string, digest: string, since: string): Promise<Comparison> =>
    serial(`of ${trail}`, async () => {
      const chains = await store.lanes(trail)
      const pruned = await Promise.all(chains.map((chain) => oldestOf(store, chain)))
      // Pruned decisions count no longer, as after a restart.
      const name = JSON.stringify([digest, since, pruned])
      const known = cache.get(trail)
      const counted = known?.name === name ? known : { name, next: new Map(), matrix: [], failed: [] }
      cache.put(trail, counted)
      let left = ENTRIES_OF_A_CALL
      for (const [chain, length] of await store.lengths(chains)) {
        for (let first = counted.next.get(chain) ?? (await store.seqNotBefore(chain, since)); left > 0; ) {
          const end = Math.min(first + ENTRIES_AT_ONCE, length)
          for (const row of await store.decisions(chain, { first, end })) count(counted, digest, row)
          counted.next.set(chain, end)
          left -= end - first
          first = end
          if (first >= length) break
          await breathe()
        }
      }
      return shown(counted, left > 0)
    })
}

function count(counted: Counted, digest: string, { decision, observed, shadow }: DecisionRow): void {
  if (shadow?.digest !== digest) return
  // Grounds were written from these types.
  countNote(counted, (observed ?? decision) as Decision, shadow as ShadowNote)
}

function shown({ matrix, failed }: Counted, complete: boolean): Comparison {
  const decisions = [...matrix, ...failed].reduce((sum, { count }) => sum + count, 0)
  return { decisions, matrix: matrix.map((cell) => ({ ...cell })), failed: failed.map((one) => ({ ...one })), complete }
}

/** A sentence of a comparison about the decisions on which the set said nothing; none without such. */
export function failedTexts({ failed }: Pick<Comparison, 'failed'>): string[] {
  return failed.map(({ why, count }) => `${count} without an answer: ${SHADOW_FAILURES[why]}`)
}
