import type { Store } from '../../store/store.ts'

/** A checkpoint is due when this many entries wait for one, or the oldest has waited this long. */
const DUE_ENTRIES = 256
const DUE_MS = 10_000
/** Event types that make a checkpoint due at once: what restrains, and could be cut off unseen before it is signed. */
const AT_ONCE = ['killswitch.triggered', 'killswitch.recovered', 'key.revoked', 'key.rotated']

/** Event types that the trail writes about itself. */
const OWN = ['audit.checkpoint', 'audit.verified']

/** A chain with more entries than its newest checkpoint covers. */
export interface UnsignedChain {
  chain: string
  size: number
  length: number
}

/** The unsigned chains that this process signs. */
export async function unsignedChains(store: Store): Promise<UnsignedChain[]> {
  const chains = (await store.chains()).filter(store.tends)
  const lengths = await store.lengths(chains)
  const unsigned: UnsignedChain[] = []
  for (const chain of chains) {
    const size = (await store.lastCheckpoint(chain))?.size ?? 0
    const length = lengths.get(chain) ?? 0
    if (length > size) unsigned.push({ chain, size, length })
  }
  return unsigned
}

export async function isDue(store: Store, { chain, size, length }: UnsignedChain, nowMs: number): Promise<boolean> {
  const range = { first: size, end: length }
  if (length - size >= DUE_ENTRIES || (await store.seqsOfTypes(chain, AT_ONCE, range)).length > 0) return true
  // A checkpoint's own entries make none due, or there would be no end.
  const own = new Set(await store.seqsOfTypes(chain, OWN, range))
  for (let seq = size; seq < length; seq += 1) {
    if (own.has(seq)) continue
    const oldest = await store.entryAt(chain, seq)
    // A missing entry shows when the chain is signed. One ahead of a clock that was set back does not wait for it.
    return oldest === undefined || Math.abs(nowMs - Date.parse(oldest.header.ts)) >= DUE_MS
  }
  return false
}
