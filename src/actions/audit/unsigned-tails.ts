import { readHeader } from '../../audit/chain.ts'
import { unsignedTail } from '../../audit/unsigned.ts'
import type { Store } from '../../store/store.ts'
import { unsignedChains } from '../evidence/due.ts'

/** Entries of a chain that no checkpoint covers, though a service that runs must have signed them: first <= seq < end. */
export interface UnsignedTail {
  chain: string
  first: number
  end: number
}

const HEADERS_AT_ONCE = 500

export async function unsignedTails(store: Store): Promise<UnsignedTail[]> {
  const tails: UnsignedTail[] = []
  for (const { chain, length } of await unsignedChains(store)) {
    // Read before the checkpoint that is written with them: others sign meanwhile.
    const heads = await store.recordedHeads(chain)
    const first = (await store.lastCheckpoint(chain))?.size ?? 0
    const isTakenAway = heads.some(({ size }) => size > first)
    if (isTakenAway || (await isTooLong(store, chain, first))) tails.push({ chain, first, end: length })
  }
  return tails
}

async function isTooLong(store: Store, chain: string, first: number): Promise<boolean> {
  const isTooMany = unsignedTail()
  for (let seq = first; ; seq += HEADERS_AT_ONCE) {
    const texts = await store.headersFrom(chain, seq, HEADERS_AT_ONCE)
    // What is no header is found out when the chain is signed.
    if (texts.map(readHeader).some((header) => header !== undefined && isTooMany(header))) return true
    if (texts.length < HEADERS_AT_ONCE) return false
  }
}

export function tailLine({ chain, first, end }: UnsignedTail): string {
  return `UNSIGNED: audit chain ${chain} has ${end} entries, and those from ${first} on have no checkpoint, though a service must have signed them`
}
