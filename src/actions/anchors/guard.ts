import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import type { Store } from '../../store/store.ts'
import { type AnchorRecord, type AnchorSink, type NewestAnchors, newestUpTo } from './anchors.ts'
import { compareAnchors, type Discrepancy, reasonOf } from './compare.ts'

export interface GuardDeps {
  store: Store
  /** The anchors that can be read back; without any there is nothing to compare with. */
  record: (AnchorRecord & Pick<AnchorSink, 'name'>) | undefined
  /** Called when the data file contradicts the anchors; nothing is written from then on. */
  onFault(discrepancies: readonly Discrepancy[]): void
  onResume(): void
  /** Called with the number of malformed anchor lines that were skipped. */
  onMalformed(lines: number): void
  /** Called when the sink lacks anchors that it had taken. */
  onLost(): void
}

/**
 * Compares the data file with the anchors before a new anchor could hide a contradiction. This process writes nothing
 * while they contradict each other.
 */
export function anchorGuard(deps: GuardDeps) {
  const { store, record } = deps
  let isCompared = record === undefined
  let discrepancies: readonly Discrepancy[] = []
  let seen = ''

  /** A version of both sides; a new one can change the result of a comparison. */
  const version = async (of: AnchorRecord): Promise<string> => {
    const lengths = await store.lengths([SYSTEM_CHAIN, ...discrepancies.map(({ chain }) => chain)])
    return JSON.stringify([await of.version(), [...lengths]])
  }
  const compare = async (of: NonNullable<GuardDeps['record']>): Promise<void> => {
    const { newest, malformed } = await of.newest()
    if (malformed > 0 && !isCompared) deps.onMalformed(malformed)
    const before = discrepancies
    // Anchors that have gone by now contradict nothing, and settle nothing.
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
    /** The public reason why nothing is written; null while writing is allowed. */
    fault: () => (isSuspended() ? reasonOf(discrepancies, []) : null),
    /**
     * Compares, unless the last comparison succeeded or nothing has changed since it failed.
     *
     * @returns whether the data file agrees with the anchors
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

/** True when the anchors end before what the sink took of a chain: they were cut or replaced. */
async function hasLost(store: Store, sink: string, newest: NewestAnchors['newest']): Promise<boolean> {
  const taken = (await store.deliveries()).find((delivery) => delivery.sink === sink)
  if (taken === undefined) return false
  const held = await newestUpTo(store, taken.number)
  return held.some(({ chain, size }) => size > (newest.get(chain)?.size ?? 0))
}
