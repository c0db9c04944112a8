import type { Verified } from '../actions/audit/trail-state.ts'
import { SYSTEM_CHAIN } from '../audit/chain.ts'
import { sectionValue } from '../audit/entry.ts'
import { isJsonObject, type JsonObject } from '../base/json.ts'
import { lengthOf, oldestOf } from '../store/bounds.ts'
import type { ChainRequest } from '../store/queries.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from './log.ts'

/** Results of verifications, by the service or for a caller. */
export interface Verification {
  /** Last verification of all chains; null before the first. */
  last(): Verified | null
  /** Chains whose verification failed, with the fault, until one of the whole chain is good. */
  faults(): ReadonlyMap<string, string>
}

/**
 * Watches what verifications find. One that fails counts whatever its range; a good one clears the fault of its chain
 * only when it covered all of it. A restart begins with what the trail records of the last verification.
 *
 * @param stopping ends the verifications under way, with its reason
 */
export function watchVerifications(store: Store, log: Pick<Logger, 'error'>, stopping: AbortSignal) {
  const faults = new Map<string, string>()
  let last: Verified | null = null
  return {
    last: () => last,
    faults: () => faults,
    allVerified(verified: Verified): void {
      last = verified
    },
    verifyChain: (async (request, onProgress, signal = stopping) => {
      const isWhole = await coversAll(store, request)
      const result = await store.verifyChain(request, onProgress, AbortSignal.any([signal, stopping]))
      const { chain } = request
      const { valid, status, firstBadSeq, fault } = result
      if (!valid) {
        faults.set(chain, fault ?? status)
        log.error({ chain, status, firstBadSeq, fault }, 'the audit trail was altered')
      } else if (isWhole) faults.delete(chain)
      return result
    }) satisfies Store['verifyChain'],
    /** Takes up the last verification that the trail records. */
    async recall(): Promise<void> {
      const query = { chain: SYSTEM_CHAIN, eventType: 'audit.verified', sections: ['data'] }
      const { items } = await store.page({ ...query, order: 'desc', limit: 1, offset: 0 })
      const [entry] = items
      const data = entry && sectionValue(entry, 'data')
      if (entry === undefined || data === undefined) return
      last = { at: entry.header.ts, valid: data.valid === true, chains: Number(data.chains) }
      for (const { chain, fault } of listed(data)) faults.set(String(chain), String(fault))
    },
  }
}

/** True when the request leaves out nothing that the chain has now. */
async function coversAll(store: Store, { chain, range, sections }: ChainRequest): Promise<boolean> {
  if (!sections) return false
  if (range === undefined) return true
  const oldest = await oldestOf(store, chain)
  const length = await lengthOf(store, chain)
  return range.first <= oldest && range.end >= length
}

function listed({ faults }: JsonObject): JsonObject[] {
  return Array.isArray(faults) ? faults.filter(isJsonObject) : []
}
