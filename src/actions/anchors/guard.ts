import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import type { Store } from '../../store/store.ts'
import { type AnchorRecord, type AnchorSink, type NewestAnchors, newestUpTo } from './anchors.ts'
import { compareAnchors, type Discrepancy, reasonOf } from './compare.ts'

export interface GuardDeps {
  store: Store
  /** What anchors can be read back; without any, nothing can be held to them. */
  record: (AnchorRecord & Pick<AnchorSink, 'name'>) | undefined
  /** The data file contradicts the anchors: from now on nothing is written. */
  onFault(discrepancies: readonly Discrepancy[]): void
  onResume(): void
  /** Lines of the anchors that were passed over. */
  onMalformed(lines: number): void
  /** The anchors do not have all that was put there. */
  onLost(): void
}

/**
 * Holds the data file to the anchors before the first new one is put beside them, which would hide what they contradict. While
 * they contradict each other nothing is written, by this process.
 */
export function anchorGuard(deps: GuardDeps) {
  const { store, record } = deps
  let isCompared = record === undefined
  let discrepancies: readonly Discrepancy[] = []
  let seen = ''

  /** Another text when a comparison may end otherwise. */
  const version = async (of: AnchorRecord): Promise<string> => {
    const lengths = await store.lengths([SYSTEM_CHAIN, ...discrepancies.map(({ chain }) => chain)])
    return JSON.stringify([await of.version(), [...lengths]])
  }
  const compare = async (of: NonNullable<GuardDeps['record']>): Promise<void> => {
    const { newest, malformed } = await of.newest()
    if (malformed > 0 && !isCompared) deps.onMalformed(malformed)
    const before = discrepancies
    // Anchors that are gone by now contradict nothing, and settle nothing.
    if (before.some(({ chain }) => !newest.has(chain))) return
    discrepancies = await compareAnchors(store, newest)
    if (discrepancies.length > 0) {
      store.suspend((chains) => reasonOf(discrepancies, chains))
      if (before.length === 0) deps.onFault(discrepancies)
    } else if (before.length > 0) {
      store.resume()
      deps.onResume()
    }
    if (discrepancies.length === 0 && (await hasLost(store, of.name, newest))) deps.onLost()
    isCompared = true
  }
  const isSuspended = (): boolean => discrepancies.length > 0

  return {
    isSuspended,
    /** Why nothing is written, for everybody to read; null when it is. */
    fault: () => (isSuspended() ? reasonOf(discrepancies, []) : null),
    /**
     * Compares, if that has not been done yet, or ended badly and something has changed since.
     *
     * @returns whether all is well
     * @throws SinkFailure when the anchors cannot be read; GateError `audit_unavailable` when the chains cannot
     */
    async look(): Promise<boolean> {
      if (record === undefined || (isCompared && !isSuspended())) return true
      const now = await version(record)
      if (isCompared && now === seen) return false
      await compare(record)
      seen = now
      return !isSuspended()
    },
  }
}

/** True when the anchors end before what the sink has taken of a chain: they were cut, or are another file. */
async function hasLost(store: Store, sink: string, newest: NewestAnchors['newest']): Promise<boolean> {
  const taken = (await store.deliveries()).find((delivery) => delivery.sink === sink)
  if (taken === undefined) return false
  const held = await newestUpTo(store, taken.number)
  return held.some(({ chain, size }) => size > (newest.get(chain)?.size ?? 0))
}
