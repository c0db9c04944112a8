import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import { SERVICE } from '../../audit/draft.ts'
import type { RangeVerification } from '../../audit/range.ts'
import { type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import { type RangeInputs, verifySeqs } from './verify-range.ts'

interface SweptChain extends Pick<RangeVerification, 'valid' | 'status' | 'entriesChecked' | 'fault' | 'firstBadSeq'> {
  chain: string
}

/** Limit of faulty chains that the record lists by name. */
const MAX_FAULTS = 100

/** Verifies every chain that exists or ever existed, and records the result. */
export async function sweep(deps: Deps, inputs: RangeInputs = {}) {
  const chains: SweptChain[] = []
  for (const chain of await deps.store.chainsEver()) {
    const { valid, status, entriesChecked, fault, firstBadSeq } = await verifySeqs(deps.store, chain, undefined, inputs)
    chains.push({ chain, valid, status, entriesChecked, fault, firstBadSeq })
  }
  const swept = { valid: chains.every(({ valid }) => valid), chains }
  const data = {
    valid: swept.valid,
    chains: chains.length,
    entries: chains.reduce((sum, { entriesChecked }) => sum + entriesChecked, 0),
    faults: chains.filter(({ valid }) => !valid).slice(0, MAX_FAULTS),
  }
  await decideAndCommit(deps.store, async () => {
    const entry = eventEntry(deps, SYSTEM_CHAIN, 'audit.verified', data, SERVICE)
    return { submission: { guards: [], writes: [], entries: [entry] }, reply: () => undefined }
  })
  return swept
}
